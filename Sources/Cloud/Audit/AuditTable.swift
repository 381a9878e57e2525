/// Rows of a database that all processes share: lines with their numbers, which grow by one.
package protocol AuditTable: Sendable {
    /// Adds a row behind the last; no other is added meanwhile. When this returns, it is on the disk.
    ///
    /// - Parameter make: the row by the last line before it; nil for none.
    /// - Throws: what the database reports; the row may be there.
    func append(_ make: (_ last: [UInt8]?) -> AuditRow) throws

    /// The lines before a number, or all; the newest first, `limit` at most.
    ///
    /// - Parameter term: only of rows that have it.
    /// - Throws: what the database reports.
    func lines(
        before number: Int64?, with term: Int64?, limit: Int
    ) throws -> [(number: Int64, line: [UInt8])]
}

/// A line as a table has it, without its line end, and the terms that searches look for.
package struct AuditRow: Sendable {
    package let line: [UInt8]
    package let terms: [Int64]

    init(_ entry: AuditEntry, after last: [UInt8]?) {
        let (bytes, _) = AuditLine.make(entry, after: AuditLine.digest(ofAny: last))
        line = bytes.dropLast()
        let terms = AuditSearch.beginnings(of: entry).flatMap { AuditSearch.terms(of: $0) }
        self.terms = Set(terms.map { Int64(bitPattern: $0) }).sorted()
    }
}
