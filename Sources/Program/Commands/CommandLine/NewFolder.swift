import Control
import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder that is filled under another name, and moves to its place only when it is whole.
///
/// Until then the folder holds a mark, and the process that fills it holds a lock on the mark. When
/// nobody holds the lock, a process that ended has left the folder. It is removed when the next
/// folder is made beside it, under whatever name.
final class NewFolder {
    /// Under this name it grows.
    private static let partialSuffix = ".partial"
    private static let markName = ".lenticular-partial"
    /// Of a name that somebody else chose, in parts between slashes.
    private static let depthMax = 16

    /// Where to put what is to be in it.
    let partial: String
    private let path: String
    private var mark: FileLock?
    private var receiving: Int32 = -1
    private var receivedBytes: Int64 = 0
    private var receivedFolders: Set<String> = []

    /// Makes the folder under its other name; what earlier attempts have left there and beside it goes.
    ///
    /// - Parameter path: nothing may be there yet, but for an empty folder.
    /// - Throws: `CommandFailure`, also when somebody else fills one for the same place.
    init(at path: String) throws(CommandFailure) {
        self.path = path
        partial = path + Self.partialSuffix
        do { try begin() } catch { throw Self.failure(error) }
    }

    private static func failure(_ error: any Error) -> CommandFailure {
        error as? CommandFailure ?? CommandFailure("\(error)")
    }

    private func begin() throws {
        if let kind = try FileSystem.kind(of: path) {
            guard kind == .folder, try FileSystem.names(in: path).isEmpty else {
                throw CommandFailure("\(path) exists already; nothing is overwritten")
            }
        }
        if let above = FileSystem.parent(of: path) { Self.removeLeftovers(in: above) }
        try Self.clear(partial)
        try FileSystem.makeFolder(partial)
        do {
            mark = try FileLock(path: "\(partial)/\(Self.markName)")
        } catch {
            throw CommandFailure("\(partial) is in use: \(error)")
        }
    }

    /// Removes the folders that processes have left here which ended before they had filled them.
    private static func removeLeftovers(in folder: String) {
        // NB: what cannot be listed or removed does no harm.
        let names = (try? FileSystem.names(in: folder)) ?? []
        for name in names where name.hasSuffix(partialSuffix) {
            let left = "\(folder)/\(name)"
            let mark = "\(left)/\(markName)"
            // NB: one that cannot be locked is being filled, or is somebody else's.
            guard (try? FileSystem.kind(of: mark)) == .file, let lock = try? FileLock(path: mark)
            else { continue }
            // NB: as above.
            try? FileSystem.removeTree(left)
            withExtendedLifetime(lock) {}
        }
    }

    /// Makes way for the folder where one was left before it had its mark, and for nothing else.
    private static func clear(_ partial: String) throws {
        guard try FileSystem.kind(of: partial) == .folder else { return }
        let names = Set(try FileSystem.names(in: partial))
        guard !names.contains(markName) else {
            throw CommandFailure("\(partial) is being filled by another command")
        }
        guard names.isEmpty else {
            throw CommandFailure("\(partial) is in the way, and no part of a backup")
        }
        try FileSystem.removeTree(partial)
    }

    deinit { if receiving >= 0 { close(receiving) } }

    /// Takes what another process sends for it, each file under a name below the folder.
    ///
    /// - Throws: `CommandFailure` for a name that leads out of the folder or is there already, and what
    ///   the system reports.
    func receive(_ frame: ControlFrame) throws(CommandFailure) {
        do {
            switch frame {
            case .answer: try finishFile()
            case .progress, .request: break
            case .file(let name): try begin(name)
            case .piece(let bytes):
                guard receiving >= 0 else { throw CommandFailure("a piece came before its file") }
                try FileSystem.writePiece(bytes, at: receivedBytes, to: receiving, of: path)
                receivedBytes += Int64(bytes.count)
            }
        } catch {
            throw Self.failure(error)
        }
    }

    /// Puts the folder in its place, durably.
    func finish() throws {
        try finishFile()
        FileSystem.removeFile("\(partial)/\(Self.markName)")
        mark = nil
        for folder in receivedFolders.union([partial]) { try FileSystem.synchronize(folder) }
        // An empty folder of that name would be in the way.
        if try FileSystem.kind(of: path) != nil { try FileSystem.removeTree(path) }
        try FileSystem.move(partial, to: path)
        if let above = FileSystem.parent(of: path) { try FileSystem.synchronize(above) }
    }

    /// Puts the one file that it holds in its place, durably.
    func finish(as name: String) throws {
        try finishFile()
        if try FileSystem.kind(of: path) != nil { try FileSystem.removeTree(path) }
        try FileSystem.move("\(partial)/\(name)", to: path)
        mark = nil
        try FileSystem.removeTree(partial)
        if let above = FileSystem.parent(of: path) { try FileSystem.synchronize(above) }
    }

    /// Leaves nothing behind.
    func discard() {
        // NB: the caller that gives up already has a failure to report.
        try? FileSystem.removeTree(partial)
    }

    private func begin(_ name: String) throws {
        try finishFile()
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isBelow = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
        guard isBelow, parts.count <= Self.depthMax, !name.utf8.contains(0) else {
            throw CommandFailure("the server sent a file under a name that leads elsewhere")
        }
        var folder = partial
        receivedFolders.insert(folder)
        for part in parts.dropLast() {
            folder += "/\(part)"
            if receivedFolders.insert(folder).inserted { try FileSystem.makeFolder(folder) }
        }
        receiving = try FileSystem.openNew("\(partial)/\(name)")
        receivedBytes = 0
    }

    private func finishFile() throws(CommandFailure) {
        guard receiving >= 0 else { return }
        defer {
            close(receiving)
            receiving = -1
        }
        guard fsync(receiving) == 0 else {
            throw CommandFailure("cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }
}
