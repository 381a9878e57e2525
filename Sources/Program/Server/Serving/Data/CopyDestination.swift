import Administration
import Control
import Cryptography
import Files

/// Where a copy of a data folder is made, and where its finished parts are sent.
package struct CopyDestination: BackupDestination {
    /// Copies on their way to another process are made below folders of this name, in the data folder.
    static let outgoingPrefix = "outgoing-"
    private static let nameBytes = 8

    /// Parts are made below it, with a data folder's layout.
    package let path: String
    private let caller: CallingProcess?
    private let write: (([UInt8]) throws -> Void)?

    /// A folder in which the copy stays.
    package init(path: String) {
        self.path = path
        (caller, write) = (nil, nil)
    }

    /// Takes a copy that is one file, piece by piece.
    package init(write: @escaping ([UInt8]) throws -> Void) {
        path = ""
        caller = nil
        self.write = write
    }

    private init(outgoing path: String, to caller: CallingProcess) {
        self.path = path
        self.caller = caller
        write = nil
    }

    /// Makes a copy that goes to another process part by part, so that the disk needs room for the
    /// largest part alone.
    package static func withOutgoing<Result>(
        of folder: DataFolder, to caller: CallingProcess, _ body: (CopyDestination) throws -> Result
    ) throws -> Result {
        let name = outgoingPrefix + Hexadecimal.encode(folder.random.bytes(nameBytes))
        let path = "\(folder.path)/\(name)"
        try FileSystem.makeFolder(path)
        // NB: what stays goes with the next start.
        defer { try? FileSystem.removeTree(path) }
        return try body(CopyDestination(outgoing: path, to: caller))
    }

    /// Removes what a process has left that ended while it sent a copy; before the first one is made.
    static func removeLeftovers(in dataFolder: String) throws {
        for name in try FileSystem.names(in: dataFolder) where name.hasPrefix(outgoingPrefix) {
            try FileSystem.removeTree("\(dataFolder)/\(name)")
        }
    }

    /// A file below the place is whole and not needed here any more.
    package func handOver(_ file: String) throws {
        guard let caller else { return }
        try caller.send(file, as: String(file.dropFirst(path.count + 1)))
        FileSystem.removeFile(file)
    }

    package func stream(
        _ name: String, _ body: (@escaping ([UInt8]) throws -> Void) throws -> Void
    ) throws {
        if let caller { return try caller.stream(name, body) }
        if let write { return try body(write) }
        let file = "\(path)/\(name)"
        if let folder = FileSystem.parent(of: file) { try FileSystem.makeFolder(folder) }
        try FileSystem.write(toNew: file, body)
    }

    package func handOverFiles(below folder: String) throws {
        guard caller != nil, try FileSystem.kind(of: folder) == .folder else { return }
        for name in try FileSystem.names(in: folder) {
            let path = "\(folder)/\(name)"
            if try FileSystem.kind(of: path) == .folder {
                try handOverFiles(below: path)
            } else {
                try handOver(path)
            }
        }
    }
}
