import CloudModel

/// The audit log of all processes, in a table of the database that they share.
package final class AuditRows: AuditStorage {
    /// Lines that are read at once.
    private static let piece = 500
    /// A page ends after so many even when nothing was found that was asked for.
    private static let linesReadMax = 50_000

    private let table: any AuditTable

    package init(_ table: any AuditTable) { self.table = table }

    package func note(_ entry: AuditEntry) throws(AuditFailure) {
        guard entry.fits else { throw .tooLong }
        try Self.asking("write") { try table.append { AuditRow(entry, after: $0) } }
    }

    package func page(
        before end: Int64?, since: Milliseconds, prefix: String, limit: Int
    ) throws(AuditFailure) -> AuditPage {
        if let end, end < 1 { throw .locationUnknown }
        let search = AuditSearch(since: since, prefix: prefix)
        var entries: [AuditEntry] = []
        var chain = AuditChain(hasGaps: search.term != nil)
        var isPast = false
        let next = try forEach(before: end, with: search.term) { line, number, linesRead in
            // A page ends when another line could follow.
            guard entries.count < limit, linesRead < Self.linesReadMax else { return false }
            guard let entry = chain.take(line, number)?.entry else { return true }
            guard entry.time >= since else {
                isPast = entry.time < since &- AuditPage.clockMilliseconds
                return !isPast
            }
            if search.matches(entry) { entries.append(entry) }
            return true
        }
        if next == nil { chain.end() }
        return AuditPage(
            entries: entries.reversed(), problems: chain.problems.reversed(),
            lastHash: end == nil ? try lastHash() : nil, next: isPast ? nil : next)
    }

    package func report() throws(AuditFailure) -> AuditReport {
        var chain = AuditChain(hasGaps: false)
        _ = try forEach { line, number, _ in
            _ = chain.take(line, number)
            return true
        }
        chain.end()
        return AuditReport(
            problems: chain.problems.reversed(), lastHash: chain.lastHash ?? AuditLine.beginning,
            lineCount: chain.lineCount)
    }

    private func lastHash() throws(AuditFailure) -> String {
        let lines = try Self.asking("read") {
            try table.lines(before: nil, with: nil, limit: 1)
        }
        return AuditLine.digest(ofAny: lines.first?.line)
    }

    /// Reads lines from one towards the beginning, until `body` returns false.
    ///
    /// - Parameter body: the line, its number, and how many were read before it.
    /// - Returns: the number behind the line at which it ended; nil where all were read.
    private func forEach(
        before end: Int64? = nil, with term: Int64? = nil,
        _ body: (_ line: [UInt8], _ number: Int64, _ linesRead: Int) -> Bool
    ) throws(AuditFailure) -> Int64? {
        var (before, linesRead) = (end, 0)
        while true {
            let lines = try Self.asking("read") {
                try table.lines(before: before, with: term, limit: Self.piece)
            }
            for (number, line) in lines {
                guard body(line, number, linesRead) else { return number + 1 }
                linesRead += 1
            }
            guard lines.count == Self.piece, let last = lines.last else { return nil }
            before = last.number
        }
    }

    private static func asking<Value>(
        _ call: String, _ body: () throws -> Value
    ) throws(AuditFailure) -> Value {
        do { return try body() } catch { throw .system(call: call, reason: "\(error)") }
    }
}
