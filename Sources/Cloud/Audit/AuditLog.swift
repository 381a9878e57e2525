import CloudModel
import Cryptography
import Platform
import Synchronization

/// The audit log of one process: a file that only grows.
package final class AuditLog: AuditStorage {
    private struct State {
        var byteCount: Int64
        var lastHash: String
        var isCertain = true
    }

    /// How many bytes of a last line, which a crash had cut short, were taken away when it was opened.
    package let tornBytes: Int
    private let path: String
    private let descriptor: Int32
    private let state: Mutex<State>

    /// Opens the log, or makes it, for its owner alone.
    ///
    /// A last line that is not whole was never acknowledged, and what it told of was not done: it goes.
    /// - Throws: `AuditFailure`.
    package init(path: String) throws(AuditFailure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("open") }
        do throws(AuditFailure) {
            try Self.synchronizeFolder(of: path)
            let end = try AuditTail(of: descriptor)
            if end.tornBytes > 0 {
                guard ftruncate(descriptor, off_t(end.wholeBytes)) == 0, fsync(descriptor) == 0
                else { throw Self.failure("ftruncate") }
            }
            tornBytes = end.tornBytes
            state = Mutex(State(byteCount: end.wholeBytes, lastHash: end.lastHash))
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    package func note(_ entry: AuditEntry) throws(AuditFailure) {
        guard entry.fits else { throw .tooLong }
        try state.withLock { state throws(AuditFailure) in
            guard state.isCertain else { throw .uncertain }
            let (bytes, hash) = AuditLine.make(entry, after: state.lastHash)
            do throws(AuditFailure) {
                try append(bytes)
            } catch {
                // A part of a line must not have another line after it.
                state.isCertain = ftruncate(descriptor, off_t(state.byteCount)) == 0
                throw error
            }
            guard fsync(descriptor) == 0 else {
                // What is on the disk is not known, and syncing again would not tell.
                state.isCertain = false
                throw Self.failure("fsync")
            }
            state.byteCount += Int64(bytes.count)
            state.lastHash = hash
        }
    }

    package func page(
        before end: Int64?, since: Milliseconds, prefix: String, limit: Int
    ) throws(AuditFailure) -> AuditPage {
        try AuditPage(of: path, before: end, since: since, prefix: prefix, limit: limit)
    }

    package func report() throws(AuditFailure) -> AuditReport { try AuditReport(of: path) }

    private func append(_ bytes: [UInt8]) throws(AuditFailure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                sent += count
            } else if errno != EINTR {
                throw Self.failure("write")
            }
        }
    }

    /// The file's name is on the disk before anything in it counts.
    private static func synchronizeFolder(of path: String) throws(AuditFailure) {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw failure("open") }
        defer { close(opened) }
        guard fsync(opened) == 0 else { throw failure("fsync") }
    }

    /// Bytes that the file has.
    static func read(
        _ descriptor: Int32, from start: Int64, count wanted: Int
    ) throws(AuditFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: wanted)
        var filled = 0
        while filled < wanted {
            let count = bytes.withUnsafeMutableBytes {
                pread(
                    descriptor, $0.baseAddress?.advanced(by: filled), wanted - filled,
                    off_t(start) + off_t(filled))
            }
            if count > 0 {
                filled += count
            } else if count == 0 || errno != EINTR {
                throw failure("pread")
            }
        }
        return bytes
    }

    static func failure(_ call: String) -> AuditFailure {
        .system(call: call, reason: String(cString: strerror(errno)))
    }
}

/// Where the whole lines of a log end, and with which digest.
private struct AuditTail {
    let wholeBytes: Int64
    let tornBytes: Int
    let lastHash: String

    init(of descriptor: Int32) throws(AuditFailure) {
        let size = Int64(lseek(descriptor, 0, SEEK_END))
        guard size >= 0 else { throw AuditLog.failure("lseek") }
        // Two lines: one that is torn, and the whole one before it.
        let start = max(0, size - 2 * Int64(AuditLine.bytesMax))
        let bytes = try AuditLog.read(descriptor, from: start, count: Int(size - start))
        var whole = (bytes.lastIndex(of: 0x0A) ?? -1) + 1
        var line = Self.lastLine(of: bytes[..<whole])
        // Of a line over two pages the second may have come to the disk without the first.
        if line.contains(0) {
            whole -= line.count + 1
            line = Self.lastLine(of: bytes[..<whole])
        }
        guard whole > 0 || start == 0 else {
            throw .damaged("it ends with more than a line's bytes without a line end")
        }
        wholeBytes = start + Int64(whole)
        tornBytes = bytes.count - whole
        if line.isEmpty {
            lastHash = AuditLine.beginning
        } else {
            // A malformed line stays, for the report; the chain goes on from its bytes.
            lastHash =
                AuditLine(Array(line))?.hash ?? Hexadecimal.encode(SHA256.digest(Array(line)))
        }
    }

    /// Without its line end.
    private static func lastLine(of lines: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let line = lines.dropLast()
        let before = line.lastIndex(of: 0x0A)
        return before.map { line[($0 + 1)...] } ?? line
    }
}
