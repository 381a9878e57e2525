import CloudModel
import Cryptography

// Files on their way that outlive the process. Sealed ones do not: the chunk that a process was about to seal
// is in its memory alone.
extension FolderAssets {
    package func begin(
        resumable name: String, byteCount: Int
    ) throws(AssetFailure) -> any AssetUpload {
        try beginFile(resumable: name, byteCount: byteCount)
    }

    func beginFile(resumable name: String, byteCount: Int) throws(AssetFailure) -> FolderUpload {
        try makeRoom(for: byteCount)
        // So that all of it is found by its name.
        let file = name + Hexadecimal.encode(random.bytes(16))
        if let key {
            return try FolderUpload(
                to: self, temporary: "\(incoming)/\(file)", cipher: key.makeCipher(random))
        }
        let note = path(ofNote: name)
        let isNoted = try withNotes { () throws(AssetFailure) in
            if let previous = ResumableNote.read(note) {
                try AssetFiles.remove("\(incoming)/\(previous.file)")
            }
            return try ResumableNote(file: file, byteCount: byteCount).write(note)
        }
        return try FolderUpload(
            to: self, temporary: "\(incoming)/\(file)", cipher: nil, note: isNoted ? note : nil)
    }

    package func canResume(_ name: String) -> Bool {
        key == nil && ResumableNote.read(path(ofNote: name)) != nil
    }

    package func resume(_ name: String) throws(AssetFailure) -> ResumedAsset? {
        try resumeFile(name).map {
            ResumedAsset(upload: $0.file, byteCount: $0.byteCount, received: $0.file.byteCount)
        }
    }

    func resumeFile(
        _ name: String
    ) throws(AssetFailure) -> (file: FolderUpload, byteCount: Int)? {
        let path = path(ofNote: name)
        guard key == nil, let note = ResumableNote.read(path) else { return nil }
        let file = try FolderUpload(
            resuming: "\(incoming)/\(note.file)", of: self, note: path)
        guard file.byteCount <= note.byteCount else {
            file.discard()
            return nil
        }
        return (file, note.byteCount)
    }

    package func removeUnfinished() throws(AssetFailure) {
        try sums.removeUnfinished()
        let names = try AssetFiles.names(in: incoming)
        var kept: Set<String> = []
        for name in names where name.hasSuffix(ResumableNote.suffix) {
            // One without a file was made for bytes that never came.
            guard let note = ResumableNote.read("\(incoming)/\(name)"), names.contains(note.file)
            else { continue }
            kept.formUnion([name, note.file])
        }
        for name in names where !kept.contains(name) {
            try AssetFiles.remove("\(incoming)/\(name)")
        }
    }

    package func removeUnfinished(named prefix: String) throws(AssetFailure) {
        for name in try AssetFiles.names(in: incoming) where name.hasPrefix(prefix) {
            try AssetFiles.remove("\(incoming)/\(name)")
        }
    }

    package func removeAbandoned(begunBefore moment: Milliseconds) throws(AssetFailure) {
        try removeAside()
        try sums.removeAbandoned(writtenBefore: moment)
        for name in try AssetFiles.names(in: incoming) {
            let path = "\(incoming)/\(name)"
            let isNote = name.hasSuffix(ResumableNote.suffix)
            // A note is older than the first bytes of its file, also one of another machine with the same folder.
            let file = isNote ? ResumableNote.file(in: path).map { "\(incoming)/\($0)" } : nil
            guard let touched = file.flatMap(Self.modified) ?? Self.modified(path),
                touched < moment
            else { continue }
            if let file { try AssetFiles.remove(file) }
            try AssetFiles.remove(path)
        }
    }

    private func path(ofNote name: String) -> String {
        "\(incoming)/\(name)\(ResumableNote.suffix)"
    }
}
