import CloudModel
import Cryptography
import Platform

/// A file on its way into a folder.
final class FolderUpload: AssetUpload {
    /// After so much it has the disk begin, so that the end does not wait for all of it.
    private static let stepBytes = 4 << 20

    private let storage: FolderAssets
    private var stepStart = 0
    private let temporary: String
    /// What tells the next process of it; nil for one that ends with this process.
    private let note: String?
    let descriptor: Int32
    private var cipher: AssetCipher?
    private var hash = SHA256()
    private var summer = PartSummer()
    private var size = 0
    private var content: AssetContent?
    private var isInPlace = false

    init(
        to storage: FolderAssets, temporary: String, cipher: AssetCipher?, note: String? = nil
    ) throws(AssetFailure) {
        self.storage = storage
        self.temporary = temporary
        self.note = note
        self.cipher = cipher
        descriptor = AssetFiles.open(temporary, O_RDWR | O_CREAT | O_EXCL)
        guard descriptor >= 0 else { throw AssetFiles.failure("open") }
        if note != nil { _ = holdAlone() }
        if cipher != nil {
            do throws(AssetFailure) {
                try AssetFiles.write(
                    [UInt8](repeating: 0, count: AssetCipher.headerBytes), to: descriptor)
            } catch {
                discard()
                throw error
            }
        }
    }

    /// Goes on with a file that is not sealed, after what it has.
    ///
    /// - Throws: `AssetFailure.unavailable` while another process has it open.
    init(
        resuming temporary: String, of storage: FolderAssets, note: String
    ) throws(AssetFailure) {
        self.storage = storage
        self.temporary = temporary
        self.note = note
        descriptor = AssetFiles.open(temporary, O_RDWR | O_APPEND)
        guard descriptor >= 0 else { throw AssetFiles.failure("open") }
        guard holdAlone(), isNamed else {
            throw .unavailable(call: "flock", reason: "another process has the upload")
        }
        while true {
            let piece = try AssetFiles.read(descriptor, at: size, count: 262_144)
            if piece.isEmpty { break }
            hash.update(piece)
            piece.withUnsafeBytes { summer.update($0) }
            size += piece.count
        }
        stepStart = size
    }

    /// Keeps other processes with the same folder from going on with the file; false when one has it.
    ///
    /// NB: where files cannot be locked, only the proxy keeps them apart.
    private func holdAlone() -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    /// Whether the file still has its name: who had it before may have put it in place meanwhile.
    private var isNamed: Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && stat(temporary, &named) == 0
            && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    deinit {
        // What the next process is to go on with stays, unless it was discarded.
        if note == nil { discard() }
        if descriptor >= 0 { close(descriptor) }
    }

    var isSealed: Bool { cipher != nil }
    /// How much has come.
    var byteCount: Int { size }

    func append(_ bytes: UnsafeRawBufferPointer) throws(AssetFailure) {
        try storage.checkFloor()
        hash.update(bytes)
        summer.update(bytes)
        size += bytes.count
        if cipher == nil {
            try AssetFiles.write(bytes, to: descriptor)
        } else {
            for chunk in try cipher?.append(bytes) ?? [] {
                try AssetFiles.write(chunk, to: descriptor)
            }
        }
        guard size - stepStart >= Self.stepBytes else { return }
        AssetFiles.beginWriting(descriptor, from: stepStart)
        stepStart = size
    }

    func seal() throws(AssetFailure) -> AssetContent {
        if let content { return content }
        guard let digest = AssetDigest(hash.digest()) else {
            throw .system(call: "SHA-256", reason: "no digest")
        }
        if cipher != nil {
            if let (last, header) = try cipher?.finish() {
                try AssetFiles.write(last, to: descriptor)
                guard pwrite(descriptor, header, header.count, 0) == header.count else {
                    throw AssetFiles.failure("pwrite")
                }
            }
        }
        if fsync(descriptor) != 0 { throw AssetFiles.failure("fsync") }
        var status = stat()
        // Anyone who sends it may have been erased meanwhile.
        guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else {
            throw .system(call: "fstat", reason: "the file was removed")
        }
        let content = AssetContent(digest: digest, size: size)
        self.content = content
        return content
    }

    func place() throws(AssetFailure) {
        let content = try seal()
        guard !isInPlace else { return }
        try storage.accept(temporary, as: content.digest, isSealed: cipher != nil)
        recordSums(content)
        isInPlace = true
        removeNote()
    }

    /// Writes down the sums of the file's parts; an encrypted one has none, its chunks tell by themselves.
    func recordSums(_ content: AssetContent) {
        guard cipher == nil else { return }
        // NB: the first read makes them from the contents, if they cannot be stored now.
        try? storage.sums.record(summer.finished(content.digest))
    }

    func discard() {
        guard !isInPlace && descriptor >= 0 else { return }
        unlink(temporary)
        removeNote()
    }

    /// Unless it speaks of another file by now, which has been begun in the place of this one.
    private func removeNote() {
        guard let note else { return }
        storage.withNotes {
            guard let file = ResumableNote.read(note)?.file, temporary.hasSuffix("/\(file)")
            else { return }
            unlink(note)
        }
    }
}
