import CloudModel
import SQLite
import Storage

/// The statements that change single entries of a table.
struct IndexValueTable {
    /// How many entries one statement inserts, where there are so many.
    static let together = 8

    private let insert: Statement
    private let insertTogether: Statement
    private let delete: Statement
    private let deleteRecord: Statement
    private let connection: Connection

    init(_ name: String, _ connection: Connection) {
        self.connection = connection
        let into = "INSERT OR IGNORE INTO \(name) (\(IndexValueRow.columns)) VALUES"
        let row = "(?, ?, ?, ?)"
        insert = connection.statement("\(into) \(row)")
        let rows = repeatElement(row, count: Self.together).joined(separator: ", ")
        insertTogether = connection.statement("\(into) \(rows)")
        delete = connection.statement(
            """
            DELETE FROM \(name) WHERE field = ?1 AND zone = ?2 AND value = ?3 AND record = ?4
            """)
        deleteRecord = connection.statement(
            "DELETE FROM \(name) WHERE field = ?1 AND zone = ?2 AND record = ?3")
    }

    func add(_ entry: IndexValueRow) throws {
        entry.bind(to: insert, at: 1)
        try insert.run()
    }

    func add(_ entries: [IndexValueRow]) throws {
        var left = entries[...]
        while left.count >= Self.together {
            for (number, entry) in left.prefix(Self.together).enumerated() {
                entry.bind(to: insertTogether, at: Int32(number) * IndexValueRow.columnCount + 1)
            }
            try insertTogether.run()
            left = left.dropFirst(Self.together)
        }
        for entry in left { try add(entry) }
    }

    /// - Returns: whether it was there.
    func remove(_ entry: IndexValueRow) throws -> Bool {
        entry.bind(to: delete, at: 1)
        try delete.run()
        return connection.changeCount > 0
    }

    func removeAll(of record: RecordNumber, in zone: ZoneNumber, _ index: Int64) throws {
        deleteRecord.bind(index, at: 1)
        deleteRecord.bind(zone.value, at: 2)
        deleteRecord.bind(record.value, at: 3)
        try deleteRecord.run()
    }
}

/// An entry of an index of values, as all three tables have it: those of new, of gone and of other entries.
struct IndexValueRow {
    let index: Int64
    let zone: Int64
    let value: IndexValue
    let record: Int64

    /// Before all others.
    static let first = IndexValueRow(index: .min, zone: 0, value: .integer(0), record: 0)
    /// Behind all others.
    static let last = IndexValueRow(index: .max, zone: 0, value: .integer(0), record: 0)

    static let columns = "field, zone, value, record"
    static let columnCount: Int32 = 4

    init(index: Int64, zone: Int64, value: IndexValue, record: Int64) {
        (self.index, self.zone, self.value, self.record) = (index, zone, value, record)
    }

    init(_ value: IndexValue, _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64) {
        self.init(index: index, zone: zone.value, value: value, record: record.value)
    }

    /// The entry in a row's four columns.
    init(_ row: Statement) throws {
        self.init(
            index: row.int64(0), zone: row.int64(1), value: try IndexValue(row, column: 2),
            record: row.int64(3))
    }

    func bind(to statement: Statement, at column: Int32) {
        statement.bind(index, at: column)
        statement.bind(zone, at: column + 1)
        statement.bind(value, at: column + 2)
        statement.bind(record, at: column + 3)
    }
}
