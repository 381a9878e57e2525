import CloudModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Whether a database may have changed, by what the system tells of its file and its log.
enum FileMark {
    /// The system's clock for files may stand still so long while somebody writes.
    private static let settledMilliseconds: Milliseconds = 2_000

    /// Nil for files that were written to a moment ago, or are not there.
    static func mark(of path: String) -> [UInt8]? {
        // NB: the clock by which the system dates files, whatever the server goes by.
        let now = Milliseconds(time(nil)) * 1_000
        guard let file = state(path, now) else { return nil }
        var status = stat()
        guard stat(path + "-wal", &status) == 0, status.st_size > 0 else { return file }
        return state(path + "-wal", now).map { file + $0 }
    }

    private static func state(_ path: String, _ now: Milliseconds) -> [UInt8]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        let seconds = Int64(time.tv_sec)
        guard seconds * 1_000 + Int64(time.tv_nsec) / 1_000_000 + settledMilliseconds < now else {
            return nil
        }
        let numbers = [
            UInt64(status.st_ino), UInt64(status.st_size), UInt64(seconds), UInt64(time.tv_nsec),
        ]
        return numbers.flatMap { number in
            stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: number >> UInt64($0))
            }
        }
    }
}
