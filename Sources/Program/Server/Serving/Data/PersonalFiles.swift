import Accounts
import Administration
import Control
import Cryptography
import Files
import Storage
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Makes files of all that is kept of somebody, one at a time.
final class PersonalFiles: Sendable {
    private struct Attachment {
        weak var folder: DataFolder?
    }

    /// Closes a file with its last user.
    private final class OpenFile: Sendable {
        let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }
    }

    private static let nameBytes = 8
    private let attachment = Mutex(Attachment())
    private let isBusy = Atomic(false)

    /// Says whose data it is; before that there is nothing to make files of.
    func attach(_ folder: DataFolder) { attachment.withLock { $0.folder = folder } }

    /// Makes one, which has no name in the data folder any more.
    ///
    /// - Returns: nil while another is being made.
    /// - Throws: `CommandFailure`, also where the disk would have too little room left; what the data's places
    ///   report.
    func make(of account: AccountRecord) throws -> PersonalFile? {
        guard let folder = attachment.withLock({ $0.folder }),
            !isBusy.exchange(true, ordering: .acquiring)
        else { return nil }
        defer { isBusy.store(false, ordering: .releasing) }
        // What a crash leaves of it goes with what it leaves of copies.
        let name =
            CopyDestination.outgoingPrefix + Hexadecimal.encode(folder.random.bytes(Self.nameBytes))
        let path = "\(folder.path)/\(name)"
        let writing = OpenFile(try FileSystem.openNew(path))
        defer { FileSystem.removeFile(path) }
        var count = 0
        _ = try PersonalExport(of: account, in: folder).run { bytes in
            count += bytes.count
            guard
                try FileSystem.freeBytes(at: folder.path)
                    >= folder.configuration.assets.freeBytesMin
            else { throw CommandFailure("no room for a file of all that is kept of somebody") }
            try FileSystem.write(bytes, to: writing.descriptor, of: path)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure("cannot open \(path): \(String(cString: strerror(errno)))")
        }
        return PersonalFile(
            descriptor: descriptor, owner: OpenFile(descriptor), byteCount: count)
    }
}
