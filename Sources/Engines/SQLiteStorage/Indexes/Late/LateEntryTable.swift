import IndexedQueries
import SQLite
import Storage

/// How far an index is behind a record (the table `late_entries`).
struct LateRow: Equatable, Sendable {
    let zone: ZoneNumber
    let index: Int64
    let record: RecordNumber
    /// The body whose entries the index still has; nil for none.
    var previous: Int64?
    /// The first of the previous body's entries that the index has.
    var previousFrom = 0
    /// The entry behind the last one that it has; -1 for all.
    var previousThrough = -1
    /// How many of the present body's entries the index has already.
    var come = 0
    /// Whether queries wait for it.
    var isAwaited: Bool

    static let columns =
        "zone, field, record, previous, previous_from, previous_through, come, is_awaited"

    init(
        zone: ZoneNumber, index: Int64, record: RecordNumber, previous: Int64?, isAwaited: Bool
    ) {
        (self.zone, self.index, self.record) = (zone, index, record)
        (self.previous, self.isAwaited) = (previous, isAwaited)
    }

    init(_ row: Statement) {
        self.init(
            zone: ZoneNumber(row.int64(0)), index: row.int64(1),
            record: RecordNumber(row.int64(2)), previous: row.isNull(3) ? nil : row.int64(3),
            isAwaited: row.int64(7) != 0)
        (previousFrom, previousThrough) = (Int(row.int64(4)), Int(row.int64(5)))
        come = Int(row.int64(6))
    }

    /// The entries of the previous body that the index has.
    func held(of previous: [SingleEntry]) -> ArraySlice<SingleEntry> {
        let through = previousThrough < 0 ? previous.count : min(previousThrough, previous.count)
        return previous[min(max(0, previousFrom), through)..<through]
    }
}

/// What the writer does with entries that are left for later.
///
/// Confined to the writer's queue.
final class LateEntryTable {
    private let connection: Connection
    private let find: Statement
    private let save: Statement
    private let delete: Statement
    private let deleteRecord: Statement
    private let keepBody: Statement
    private let dropBody: Statement
    private let awaited: Statement
    /// Whether there are any; nil when nobody has looked.
    private var isAny: Bool?

    init(_ connection: Connection) {
        self.connection = connection
        find = connection.statement(
            """
            SELECT \(LateRow.columns) FROM late_entries
            WHERE zone = ?1 AND field = ?2 AND record = ?3
            """)
        save = connection.statement(
            """
            INSERT OR REPLACE INTO late_entries (\(LateRow.columns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """)
        delete = connection.statement(
            "DELETE FROM late_entries WHERE zone = ?1 AND field = ?2 AND record = ?3")
        deleteRecord = connection.statement(
            "DELETE FROM late_entries WHERE zone = ?1 AND record = ?2")
        keepBody = connection.statement("INSERT INTO late_bodies (body) VALUES (?1)")
        dropBody = connection.statement(
            """
            DELETE FROM late_bodies WHERE id = ?1
            AND NOT EXISTS (SELECT 1 FROM late_entries WHERE previous = ?1)
            """)
        awaited = connection.statement(
            """
            SELECT 1 FROM late_entries WHERE zone = ?1 AND field = ?2 AND is_awaited LIMIT 1
            """)
    }

    /// What it remembers was undone.
    func rolledBack() { isAny = nil }

    func hasAny() throws -> Bool {
        if let isAny { return isAny }
        let found = try has("SELECT 1 FROM late_entries LIMIT 1")
        isAny = found
        return found
    }

    /// Whether entries of an index are left, of whatever record.
    func hasAny(of index: Int64) throws -> Bool {
        guard try hasAny() else { return false }
        return try has("SELECT 1 FROM late_entries WHERE field = \(index) LIMIT 1")
    }

    private func has(_ sql: String) throws -> Bool {
        let row = try connection.prepare(sql)
        defer { row.reset() }
        return try row.step()
    }

    func row(of record: RecordNumber, in zone: ZoneNumber, _ index: Int64) throws -> LateRow? {
        guard try hasAny() else { return nil }
        bind(zone, index, record, to: find)
        defer { find.reset() }
        return try find.step() ? LateRow(find) : nil
    }

    /// Whether queries wait for entries of a zone in an index.
    func isAwaited(_ zone: ZoneNumber, _ index: Int64) throws -> Bool {
        awaited.bind(zone.value, at: 1)
        awaited.bind(index, at: 2)
        defer { awaited.reset() }
        return try awaited.step()
    }

    /// Leaves for later what indexes are to say of a record.
    ///
    /// - Parameters:
    ///   - previous: the body of which the indexes have the entries, but for what was left before; nil for none.
    ///   - isAwaited: whether queries are to wait for it.
    /// - Returns: whether there is anything to do.
    func leave(
        _ record: RecordNumber, in zone: ZoneNumber, to indexes: [StoredIndex],
        previous: [UInt8]?, isAwaited: Bool
    ) throws -> Bool {
        var body: Int64?
        func keptBody() throws -> Int64? {
            guard let previous, body == nil else { return body }
            keepBody.bind(previous, at: 1)
            try keepBody.run()
            body = connection.lastInsertedRowID
            return body
        }
        var isLeft = false
        for index in indexes {
            var row: LateRow
            if let known = try self.row(of: record, in: zone, index.number) {
                row = known
                // What has come is of the body that is a previous one now.
                if known.come > 0 {
                    row.previous = try keptBody()
                    (row.previousFrom, row.previousThrough, row.come) = (0, known.come, 0)
                }
                row.isAwaited = isAwaited
            } else {
                guard previous != nil || isAwaited else { continue }
                row = LateRow(
                    zone: zone, index: index.number, record: record, previous: try keptBody(),
                    isAwaited: isAwaited)
            }
            try put(row)
            isLeft = true
        }
        return isLeft
    }

    func put(_ row: LateRow) throws {
        bind(row.zone, row.index, row.record, to: save)
        if let previous = row.previous { save.bind(previous, at: 4) } else { save.bindNull(at: 4) }
        save.bind(Int64(row.previousFrom), at: 5)
        save.bind(Int64(row.previousThrough), at: 6)
        save.bind(Int64(row.come), at: 7)
        save.bind(Int64(row.isAwaited ? 1 : 0), at: 8)
        try save.run()
        isAny = true
    }

    func remove(_ row: LateRow) throws {
        bind(row.zone, row.index, row.record, to: delete)
        try delete.run()
        isAny = nil
        try forgetBody(row.previous)
    }

    /// Removes a body that no index has entries of any more.
    func forgetBody(_ body: Int64?) throws {
        guard let body else { return }
        dropBody.bind(body, at: 1)
        try dropBody.run()
    }

    /// Forgets what is left of a record of which indexes have nothing any more.
    func forget(_ record: RecordNumber, in zone: ZoneNumber) throws {
        guard try hasAny() else { return }
        deleteRecord.bind(zone.value, at: 1)
        deleteRecord.bind(record.value, at: 2)
        try deleteRecord.run()
        isAny = nil
        try connection.execute(
            """
            DELETE FROM late_bodies
            WHERE id NOT IN (SELECT previous FROM late_entries WHERE previous IS NOT NULL)
            """)
    }

    private func bind(
        _ zone: ZoneNumber, _ index: Int64, _ record: RecordNumber, to statement: Statement
    ) {
        statement.bind(zone.value, at: 1)
        statement.bind(index, at: 2)
        statement.bind(record.value, at: 3)
    }
}
