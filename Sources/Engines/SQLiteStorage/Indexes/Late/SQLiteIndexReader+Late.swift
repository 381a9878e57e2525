import CloudModel
import IndexedQueries
import SQLite
import Storage

// What was left for later.
extension SQLiteIndexReader {
    /// Rows of the first zone behind another.
    func lateRows(behind zone: ZoneNumber, limit: Int) throws -> [LateRow] {
        let rows = try connection.prepare(
            """
            SELECT \(LateRow.columns) FROM late_entries
            WHERE zone = (SELECT min(zone) FROM late_entries WHERE zone > ?1)
            ORDER BY field, record LIMIT ?2
            """)
        rows.bind(zone.value, at: 1)
        rows.bind(Int64(limit), at: 2)
        return try all(rows)
    }

    /// All rows.
    func lateRows() throws -> [LateRow] {
        try all(connection.prepare("SELECT \(LateRow.columns) FROM late_entries"))
    }

    private func all(_ rows: Statement) throws -> [LateRow] {
        defer { rows.reset() }
        var found: [LateRow] = []
        while try rows.step() { found.append(LateRow(rows)) }
        return found
    }

    /// The entries that an index has of a record at the moment, as a row says.
    func heldEntries(of row: LateRow, in index: StoredIndex) throws -> [SingleEntry] {
        guard row.come > 0 else {
            return Array(row.held(of: try previousEntries(of: row, in: index)))
        }
        return Array(try presentEntries(of: row, in: index).prefix(row.come))
    }

    func previousEntries(of row: LateRow, in index: StoredIndex) throws -> [SingleEntry] {
        guard let previous = row.previous, let body = try lateBody(previous) else { return [] }
        let fields = try body.withUnsafeBytes { try StoredFields($0) }
        return SingleEntry.all(of: fields, for: index.need)
    }

    private func lateBody(_ number: Int64) throws -> [UInt8]? {
        let row = try connection.prepare("SELECT body FROM late_bodies WHERE id = ?1")
        defer { row.reset() }
        row.bind(number, at: 1)
        return try row.step() ? [UInt8](row.bytes(0)) : nil
    }

    func presentEntries(of row: LateRow, in index: StoredIndex) throws -> [SingleEntry] {
        do {
            var fields: StoredFields?
            try versions(of: [row.record]) { _, version in
                if version.type == index.type, !version.flags.contains(.tombstone) {
                    fields = try version.storedFields()
                }
                return false
            }
            guard let fields else { return [] }
            return SingleEntry.all(of: fields, for: index.need)
        } catch is DamagedVersion {
            // NB: no query shows it either.
            return []
        }
    }
}
