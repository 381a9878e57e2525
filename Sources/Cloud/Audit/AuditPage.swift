import CloudModel
import Cryptography

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Some lines of a log, read from its end towards its beginning, and where their chain is broken.
///
/// It is found without reading the lines before it.
package struct AuditPage: Sendable, Equatable {
    /// The newest that were asked for, the oldest of them first.
    package private(set) var entries: [AuditEntry] = []
    /// Lines that are malformed or do not follow the line before, each named by its first byte.
    package private(set) var problems: [String] = []
    /// The digest of the log's last line; nil for a page that does not begin at the end.
    package private(set) var lastHash: String?
    /// The next page is that of the lines before this byte; nil when there are none.
    package private(set) var next: Int64?

    /// No more are named: the first one says it all.
    private static let problemsMax = 20
    /// A page ends here even when nothing was found that was asked for.
    private static let bytesReadMax: Int64 = 16 << 20
    /// How far a clock may have been set back: entries before a moment may stand behind later ones.
    private static let clockMilliseconds: Milliseconds = 86_400_000

    /// Reads lines of a log, also while another process adds to it.
    ///
    /// - Parameters:
    ///   - end: `next` of the page before; nil for the first page.
    ///   - since: entries before it are left out.
    ///   - prefix: how the operator, the action or the account of each entry begins.
    ///   - limit: of entries, at least 1.
    /// - Throws: `AuditFailure.system`; `locationUnknown` when no line ends at `end`. A log that is not there
    ///   has no entries.
    package init(
        of path: String, before end: Int64? = nil, since: Milliseconds, prefix: String = "",
        limit: Int
    ) throws(AuditFailure) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw AuditLog.failure("open") }
            guard end == nil else { throw .locationUnknown }
            lastHash = AuditLine.beginning
            return
        }
        defer { close(descriptor) }
        var lines = try AuditLinesBackward(of: descriptor, before: end)
        let first = lines.end
        /// The line behind the one that is looked at, and the digest that it names.
        var behind: (previous: String, start: Int64)?
        while true {
            let limitIsReached = entries.count == limit || first - lines.end >= Self.bytesReadMax
            let location = lines.end
            let bytes = try lines.next()
            let line = bytes.flatMap { AuditLine($0) }
            let hash = line?.hash ?? Self.hash(ofUnreadable: bytes)
            if let behind, behind.previous != hash {
                note(behind.start, "does not follow on the line before it")
            }
            if end == nil, behind == nil, lastHash == nil { lastHash = hash }
            // The line before a page is read for the chain alone.
            if limitIsReached {
                next = bytes == nil ? nil : location
                break
            }
            guard let bytes else { break }
            guard let line else {
                let isTooLong = bytes.count > AuditLine.bytesMax
                note(lines.end, isTooLong ? "is too long" : "is not as it was written")
                behind = nil
                continue
            }
            behind = (line.previous, lines.end)
            if line.entry.time < since {
                if line.entry.time < since - Self.clockMilliseconds { break }
                continue
            }
            if line.entry.begins(with: prefix) { entries.append(line.entry) }
        }
        entries.reverse()
        problems.reverse()
    }

    private static func hash(ofUnreadable bytes: [UInt8]?) -> String {
        bytes.map { Hexadecimal.encode(SHA256.digest($0)) } ?? AuditLine.beginning
    }

    private mutating func note(_ start: Int64, _ what: String) {
        guard problems.count < Self.problemsMax else { return }
        problems.append("the line at byte \(start) of the audit log \(what)")
    }
}

extension AuditEntry {
    fileprivate func begins(with prefix: String) -> Bool {
        prefix.isEmpty || [who, what, account ?? ""].contains { $0.hasPrefix(prefix) }
    }
}

/// The lines of a log from one of them to the first, in pieces of the file.
private struct AuditLinesBackward {
    private static let pieceBytes: Int64 = 65_536

    /// Behind the line that comes next.
    private(set) var end: Int64
    private let descriptor: Int32
    /// What lies before `end`, as far as it was read.
    private var piece: ArraySlice<UInt8> = []

    /// - Throws: as `AuditPage`.
    init(of descriptor: Int32, before end: Int64?) throws(AuditFailure) {
        self.descriptor = descriptor
        let size = Int64(lseek(descriptor, 0, SEEK_END))
        guard size >= 0 else { throw AuditLog.failure("lseek") }
        if let end {
            guard (1...max(size, 1)).contains(end) else { throw .locationUnknown }
            self.end = end
            guard size > 0, try readPiece(), piece.last == 0x0A else { throw .locationUnknown }
        } else {
            self.end = size
            // What is behind the last line end is being written, or was when the machine stopped.
            while try isFilled(), piece.last != 0x0A {
                piece.removeLast()
                self.end -= 1
            }
        }
    }

    /// The line before, without its line end; nil at the beginning of the file.
    ///
    /// A line that is longer than any may be comes cut, and longer than `AuditLine.bytesMax`.
    mutating func next() throws(AuditFailure) -> [UInt8]? {
        guard try isFilled() else { return nil }
        while true {
            let line = piece.dropLast()
            if let before = line.lastIndex(of: 0x0A) { return cut(after: before, line) }
            if line.count > AuditLine.bytesMax {
                let last = cut(after: nil, line)
                try skipLine()
                return last
            }
            guard try readPiece() else { return cut(after: nil, line) }
        }
    }

    /// Takes what lies behind a line's end away from the piece.
    private mutating func cut(after lineEnd: Int?, _ line: ArraySlice<UInt8>) -> [UInt8] {
        let kept = lineEnd.map { piece[...$0] } ?? []
        end -= Int64(piece.count - kept.count)
        piece = kept
        return Array(line[max(kept.endIndex, line.startIndex)...])
    }

    /// Goes to the beginning of a line of which the end is taken away.
    private mutating func skipLine() throws(AuditFailure) {
        while piece.isEmpty {
            guard try readPiece() else { return }
            _ = cut(after: piece.lastIndex(of: 0x0A), piece)
        }
    }

    /// Whether anything lies before `end`; then some of it was read.
    private mutating func isFilled() throws(AuditFailure) -> Bool {
        if !piece.isEmpty { return true }
        return try readPiece()
    }

    /// Puts the bytes before it in front of the piece; false when there are none.
    private mutating func readPiece() throws(AuditFailure) -> Bool {
        let start = end - Int64(piece.count)
        let wanted = Int(min(start, Self.pieceBytes))
        guard wanted > 0 else { return false }
        let bytes = try AuditLog.read(
            descriptor, from: start - Int64(wanted), count: wanted)
        piece = (bytes + piece)[...]
        return true
    }
}
