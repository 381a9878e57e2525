import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The lock that makes one process the only one to change a data folder.
///
/// The system lets go of it when the process ends, however it ends.
final class FolderLock: Sendable {
    private let descriptor: Atomic<Int32>

    private init(descriptor: Int32) { self.descriptor = Atomic(descriptor) }

    deinit { release() }

    /// Takes the lock of a folder that exists.
    ///
    /// - Returns: nil while another process has it.
    /// - Throws: `CommandFailure` when the file cannot be opened.
    static func take(in folder: String) throws(CommandFailure) -> FolderLock? {
        let path = "\(folder)/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure("cannot open \(path): \(String(cString: strerror(errno)))")
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return FolderLock(descriptor: descriptor) }
        let code = errno
        close(descriptor)
        if code == EWOULDBLOCK { return nil }
        throw CommandFailure("cannot lock \(path): \(String(cString: strerror(code)))")
    }

    /// Lets another process have it.
    func release() {
        let descriptor = descriptor.exchange(-1, ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }
}
