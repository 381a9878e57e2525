import CloudModel
import IndexedQueries
import SQLite
import Storage

/// Holds the indexes of a store to what its records say.
struct IndexCheck {
    private let connection: Connection
    private let versions: VersionReader
    private let reader: SQLiteIndexReader
    private var missing = 0
    /// What was left for later, by the numbers that entries have.
    private var late: [Int64: LateRow] = [:]
    private var expected = Expected()

    /// How many rows the records are good for.
    private struct Expected {
        var values: Int64 = 0
        var locations: Int64 = 0
        var terms: Int64 = 0
    }

    init(_ connection: Connection, _ versions: VersionReader) throws {
        self.connection = connection
        self.versions = versions
        reader = try SQLiteIndexReader(connection, versions)
    }

    /// What is wrong, a line each; empty when nothing is.
    ///
    /// - Parameter connection: one that has a `VersionCensus`.
    static func problems(_ connection: Connection, _ versions: VersionReader) throws -> [String] {
        var check = try IndexCheck(connection, versions)
        try check.visitRecords()
        try check.visitLate()
        return try check.problems()
    }

    private mutating func visitRecords() throws {
        let all = try reader.indexes()
        guard !all.isEmpty else { return }
        for row in try reader.lateRows() { late[EntryNumber(row.index, row.record).value] = row }
        let byType = Dictionary(grouping: all, by: \.type)
        let rows = try connection.prepare(
            """
            SELECT key, record, record_type FROM every_version
            WHERE flags & 1 = 0 AND record_type IN (SELECT record_type FROM indexes)
            """)
        defer { rows.reset() }
        while try rows.step() {
            let (key, record) = (rows.int64(0), RecordNumber(rows.int64(1)))
            let holding = (byType[rows.int64(2)] ?? []).filter { $0.holds(record) }
            guard !holding.isEmpty else { continue }
            // NB: what is no JSON is told of by itself.
            let read = try? versions.visit(at: key, { try $0.storedFields() })
            guard let fields = read else { continue }
            for index in holding
            where late[EntryNumber(index.number, record).value] == nil {
                for entry in IndexEntry.entries(of: fields, for: index.need) {
                    let isThere = try isThere(
                        entry, record, ZoneNumber(key >> SQLiteSnapshot.positionBits),
                        index.number)
                    missing += isThere ? 0 : 1
                }
            }
        }
    }

    /// Of a record whose entries were left for later, the index has those that its row says.
    private mutating func visitLate() throws {
        guard !late.isEmpty else { return }
        let indexes = Dictionary(
            uniqueKeysWithValues: try reader.indexes().map { ($0.number, $0) })
        for row in late.values {
            guard let index = indexes[row.index] else { continue }
            // NB: what is no JSON is told of by itself.
            let held = try? reader.heldEntries(of: row, in: index)
            for entry in held ?? [] {
                let isThere: Bool
                if case .word(let word) = entry {
                    expected.terms += 1
                    isThere = try has(word, row.record, row.zone, row.index)
                } else {
                    isThere =
                        try entry.other.map {
                            try self.isThere($0, row.record, row.zone, row.index)
                        } ?? true
                }
                missing += isThere ? 0 : 1
            }
        }
    }

    private func has(
        _ word: [UInt8], _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64
    ) throws -> Bool {
        try reader.records(
            of: index, in: zone, with: WordSearch(words: [word], needsAll: true),
            after: RecordNumber(record.value - 1), limit: 1) == [record]
    }

    private mutating func isThere(
        _ entry: IndexEntry, _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64
    ) throws -> Bool {
        switch entry {
        case .absent: return try hasValue(-index, zone, .integer(0), record)
        case .value(let value): return try hasValue(index, zone, value, record)
        case .words(let text):
            var words: [[UInt8]] = []
            text.withUnsafeBytes { text in
                Words.forEach(in: text) { words.append([UInt8]($0)) }
            }
            expected.terms += Int64(words.count)
            return try words.allSatisfy { try has($0, record, zone, index) }
        case .location(let location):
            expected.locations += 1
            let row = try connection.prepare(
                "SELECT latitude, longitude, zone FROM index_locations WHERE id = ?1")
            defer { row.reset() }
            row.bind(EntryNumber(index, record).value, at: 1)
            return try row.step() && row.double(0) == location.latitude
                && row.double(1) == location.longitude && row.int64(2) == zone.value
        }
    }

    private mutating func hasValue(
        _ index: Int64, _ zone: ZoneNumber, _ value: IndexValue, _ record: RecordNumber
    ) throws -> Bool {
        expected.values += 1
        func among(_ table: String) -> String {
            "SELECT 1 FROM \(table) WHERE field = ?1 AND zone = ?2 AND value = ?3 AND record = ?4"
        }
        return try connection.prepare(
            """
            \(among("index_values")) AND NOT EXISTS (\(among("gone_index_values")))
            UNION ALL \(among("new_index_values"))
            """
        ).hasRow(index, zone.value, value, record.value)
    }

    private func problems() throws -> [String] {
        let excess = try [
            (
                "values in indexes that no record has",
                """
                SELECT (SELECT count(*) FROM index_values)
                    + (SELECT count(*) FROM new_index_values)
                    - (SELECT count(*) FROM gone_index_values)
                """, expected.values
            ),
            (
                "values that are to leave indexes and are in none",
                """
                SELECT count(*) FROM gone_index_values WHERE (field, zone, value, record)
                NOT IN (SELECT field, zone, value, record FROM index_values)
                """, 0
            ),
            (
                "locations in indexes that no record has", "SELECT count(*) FROM index_locations",
                expected.locations
            ),
            (
                "words in indexes that no record has",
                "SELECT coalesce(sum(doc), 0) FROM index_terms", expected.terms
            ),
        ].map { ($0, try count($1) - $2) }
        var problems = missing == 0 ? [] : ["values of records that indexes lack: \(missing)"]
        // What is missing lets the sums fall short; only what is left over has not been told yet.
        for (words, rows) in excess where rows > 0 { problems.append("\(words): \(rows)") }
        let locations = try connection.prepare("SELECT rtreecheck('index_locations')")
        defer { locations.reset() }
        if try locations.step(), locations.string(0) != "ok" {
            problems.append("the index of locations: \(locations.string(0))")
        }
        return problems
    }

    private func count(_ sql: String) throws -> Int64 {
        try connection.prepare(sql).first { $0.int64(0) } ?? 0
    }
}
