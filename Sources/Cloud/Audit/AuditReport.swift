import CloudModel
import Cryptography
import Platform

/// What is wrong with a log, read from its beginning to its end.
package struct AuditReport: Sendable, Equatable {
    /// Lines that are malformed or do not follow the line before, each named by its number.
    package private(set) var problems: [String] = []
    /// The digest of the last line: who keeps it elsewhere sees later whether lines were cut off.
    package private(set) var lastHash = AuditLine.beginning
    package private(set) var lineCount = 0

    /// No more are named: the first one says it all.
    private static let problemsMax = 20
    private static let pieceBytes = 65_536

    init(problems: [String], lastHash: String, lineCount: Int) {
        self.problems = problems
        self.lastHash = lastHash
        self.lineCount = lineCount
    }

    /// Reads a log, also while another process adds to it.
    ///
    /// - Throws: `AuditFailure.system`. A log that is not there has no lines.
    package init(of path: String) throws(AuditFailure) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw AuditLog.failure("open")
        }
        defer { close(descriptor) }
        var waiting: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw AuditLog.failure("read") }
            if count == 0 { break }
            waiting += piece[..<count]
            var start = 0
            while let end = waiting[start...].firstIndex(of: 0x0A) {
                take(Array(waiting[start..<end]))
                start = end + 1
            }
            waiting.removeFirst(start)
            if waiting.count > AuditLine.bytesMax {
                // No line is so long; what follows is looked at from its next line end on.
                note("is too long")
                waiting = []
            }
        }
        // What is behind the last line end is being written, or was when the machine stopped.
    }

    private mutating func take(_ bytes: [UInt8]) {
        lineCount += 1
        guard let line = AuditLine(bytes) else {
            note("is not as it was written")
            lastHash = Hexadecimal.encode(SHA256.digest(bytes))
            return
        }
        if line.previous != lastHash { note("does not follow on the line before it") }
        lastHash = line.hash
    }

    private mutating func note(_ what: String) {
        guard problems.count < Self.problemsMax else { return }
        problems.append("line \(lineCount) of the audit log \(what)")
    }
}
