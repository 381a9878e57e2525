import CloudModel
import Cryptography
import Platform

/// Some lines of a log, read from its end towards its beginning, and where their chain is broken.
///
/// It is found without reading the lines before it, and a search reads only what its index lets through. The lines
/// that it leaves out are not held against each other either: `AuditReport` is what reads all.
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
    static let clockMilliseconds: Milliseconds = 86_400_000

    init(entries: [AuditEntry], problems: [String], lastHash: String?, next: Int64?) {
        self.entries = entries
        self.problems = problems
        self.lastHash = lastHash
        self.next = next
    }

    /// Reads lines of a log, also while another process adds to it.
    ///
    /// - Parameters:
    ///   - end: `next` of the page before; nil for the first page.
    ///   - since: entries before it are left out.
    ///   - prefix: how the operator, the action, the account or a word of the detail of each entry begins.
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
        let search = AuditSearch(since: since, prefix: prefix)
        try read(
            descriptor, before: end, search, limit: limit,
            index: search.isForAll ? nil : AuditIndex(of: path, log: descriptor))
        entries.reverse()
        problems.reverse()
    }

    private mutating func read(
        _ descriptor: Int32, before end: Int64?, _ search: AuditSearch, limit: Int,
        index: AuditIndex?
    ) throws(AuditFailure) {
        var (index, bytesRead) = (index, Int64(0))
        var lines = try AuditLinesBackward(of: descriptor, before: end)
        /// The line behind the one that is looked at, and the digest that it names.
        var behind: (previous: String, start: Int64)?
        while true {
            let limitIsReached = entries.count == limit || bytesRead >= Self.bytesReadMax
            let isLastLineKnown = end != nil || lastHash != nil
            if !limitIsReached, isLastLineKnown,
                let start = index?.start(before: lines.end, withoutAny: search)
            {
                // The line before one that was read is read for the chain alone.
                if let behind, let before = try lines.next() {
                    check(
                        behind, follow: AuditLine.digest(ofAny: before))
                }
                guard start > 0 else { break }
                lines = try AuditLinesBackward(of: descriptor, before: start)
                behind = nil
            }
            let location = lines.end
            let bytes = try lines.next()
            bytesRead += location - lines.end
            if !limitIsReached, let bytes, let known = behind, !search.mayMatch(bytes),
                let links = AuditLine.links(of: bytes)
            {
                check(known, follow: links.hash)
                behind = (links.previous, lines.end)
                continue
            }
            let line = bytes.flatMap { AuditLine($0) }
            let hash = line?.hash ?? AuditLine.digest(ofAny: bytes)
            if let behind { check(behind, follow: hash) }
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
            if line.entry.time < search.since {
                if line.entry.time < search.since - Self.clockMilliseconds { break }
                continue
            }
            if search.matches(line.entry) { entries.append(line.entry) }
        }
    }

    private mutating func check(_ line: (previous: String, start: Int64), follow hash: String) {
        guard line.previous != hash else { return }
        note(line.start, "does not follow on the line before it")
    }

    private mutating func note(_ start: Int64, _ what: String) {
        guard problems.count < Self.problemsMax else { return }
        problems.append("the line at byte \(start) of the audit log \(what)")
    }
}
