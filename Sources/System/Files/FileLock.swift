import Platform

/// The one hold on a data folder: a second process that asks is refused.
///
/// The system lets go of it when the process ends, however it ends. The file stays.
package final class FileLock: Sendable {
    package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// Another process holds it; its id, when it could be read.
        case held(process: Int32?)
        /// The file could not be made or locked; the system's reason.
        case unusable(String)

        package var description: String {
            switch self {
            case .held(let process?): "held by process \(process)"
            case .held(nil): "held by another process"
            case .unusable(let reason): reason
            }
        }
    }

    private let file: Int32

    /// Takes the lock or refuses at once.
    ///
    /// - Parameter path: the lock's file, made with mode 0600.
    /// - Throws: `Failure`.
    package init(path: String) throws(Failure) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .unusable(Self.reason(path)) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(file) }
            guard errno == EWOULDBLOCK else { throw .unusable(Self.reason(path)) }
            throw .held(process: Self.holder(file))
        }
        self.file = file
        // NB: the number only helps the one who is refused; the lock holds without it.
        let process = Array("\(getpid())\n".utf8)
        if ftruncate(file, 0) == 0 { _ = pwrite(file, process, process.count, 0) }
    }

    deinit {
        // Said aloud: a child that is just being started has the file, too, until it runs its own program.
        flock(file, LOCK_UN)
        close(file)
    }

    private static func holder(_ file: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count].prefix { $0 != 0x0a }, as: UTF8.self))
    }

    private static func reason(_ path: String) -> String {
        "cannot lock \(path): \(String(cString: strerror(errno)))"
    }
}
