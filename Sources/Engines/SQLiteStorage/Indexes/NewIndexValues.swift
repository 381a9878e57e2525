import CloudModel
import SQLite
import Storage

/// Keeps the entries of indexes of values in their order, on the writer's connection.
///
/// A new entry goes into the small table `new_index_values`. Once that holds enough, queued work moves its entries into
/// `index_values` in their order, so that one step writes each page once for all entries that go onto it.
final class NewIndexValues {
    /// How many entries a pass over `index_values` is worth, at least.
    private static let waitingMin = 10_000
    /// The most that wait before a pass begins, whatever it is worth: they are to stay in memory.
    private static let waitingMax = 200_000
    /// The records that a commit of a busy store brings, about.
    private static let commitRecords = 1_000.0
    /// The most entries that a step moves, unless more have come since the last one.
    private static let stepMax = 8_192

    private let connection: Connection
    private let insert: Statement
    private let insertOld: Statement
    private let deleteNew: Statement
    private let deleteOld: Statement
    private let bound: Statement
    private let move: Statement
    private let clear: Statement
    /// How many entries wait; nil when they have not been counted.
    private var waiting: Int?
    private var addedSinceStep = 0
    /// The entry that the pass has come to; nil between two passes.
    private var reached: Entry?
    private var isQueued = false

    /// An entry as both tables have it.
    private struct Entry {
        let index: Int64
        let zone: Int64
        let value: IndexValue
        let record: Int64

        /// Before all others.
        static let first = Entry(index: .min, zone: 0, value: .integer(0), record: 0)
        /// Behind all others.
        static let last = Entry(index: .max, zone: 0, value: .integer(0), record: 0)

        func bind(to statement: Statement, at column: Int32) {
            statement.bind(index, at: column)
            statement.bind(zone, at: column + 1)
            statement.bind(value, at: column + 2)
            statement.bind(record, at: column + 3)
        }
    }

    init(_ connection: Connection) throws {
        self.connection = connection
        func inserting(_ table: String) throws -> Statement {
            try connection.prepare(
                """
                INSERT OR IGNORE INTO \(table) (field, zone, value, record)
                VALUES (?1, ?2, ?3, ?4)
                """)
        }
        func deleting(_ table: String) throws -> Statement {
            try connection.prepare(
                """
                DELETE FROM \(table) WHERE field = ?1 AND zone = ?2 AND value = ?3 AND record = ?4
                """)
        }
        insert = try inserting("new_index_values")
        insertOld = try inserting("index_values")
        deleteNew = try deleting("new_index_values")
        deleteOld = try deleting("index_values")
        let behind = "new_index_values WHERE (field, zone, value, record) > (?1, ?2, ?3, ?4)"
        let order = "ORDER BY field, zone, value, record"
        let range = "\(behind) AND (field, zone, value, record) <= (?5, ?6, ?7, ?8)"
        bound = try connection.prepare(
            "SELECT field, zone, value, record FROM \(behind) \(order) LIMIT 1 OFFSET ?5")
        move = try connection.prepare(
            """
            INSERT OR IGNORE INTO index_values SELECT field, zone, value, record FROM \(range) \(order)
            """)
        clear = try connection.prepare("DELETE FROM \(range)")
    }

    /// What it has counted was undone.
    func rolledBack() { (waiting, isQueued) = (nil, false) }

    /// Adds an entry that no index has.
    func add(
        _ value: IndexValue, _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64
    ) throws {
        try run(insert, index, zone, value, record)
        addedSinceStep += 1
        waiting = waiting.map { $0 + 1 }
    }

    /// Adds that a record has no value: these entries come in order by themselves.
    func addAbsent(_ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64) throws {
        try run(insertOld, -index, zone, .integer(0), record)
    }

    /// Removes an entry, wherever it is.
    func remove(
        _ value: IndexValue, _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64
    ) throws {
        try run(deleteNew, index, zone, value, record)
        guard connection.changeCount == 0 else {
            waiting = waiting.map { $0 - 1 }
            return
        }
        try run(deleteOld, index, zone, value, record)
    }

    /// Removes all entries of a record in an index; reads all that the index has of the zone.
    func forget(_ record: RecordNumber, in zone: ZoneNumber, _ index: Int64) throws {
        for table in ["new_index_values", "index_values"] {
            let delete = try connection.prepare(
                "DELETE FROM \(table) WHERE field = ?1 AND zone = ?2 AND record = ?3")
            delete.bind(index, at: 1)
            delete.bind(zone.value, at: 2)
            delete.bind(record.value, at: 3)
            try delete.run()
        }
        waiting = nil
    }

    private func run(
        _ statement: Statement, _ index: Int64, _ zone: ZoneNumber, _ value: IndexValue,
        _ record: RecordNumber
    ) throws {
        Entry(index: index, zone: zone.value, value: value, record: record.value)
            .bind(to: statement, at: 1)
        try statement.run()
    }

    // MARK: - Queued work

    /// Whether work on entries is to be queued, which it is not yet.
    ///
    /// - Parameters:
    ///   - last: the last record.
    ///   - indexes: how many indexes of values there are.
    func isDue(_ last: RecordNumber, indexes: @autoclosure () -> Int) throws -> Bool {
        guard !isQueued, try isEnough(last, indexes: indexes()) else { return false }
        isQueued = true
        addedSinceStep = 0
        return true
    }

    /// Whether a pass goes on, or enough wait for the next one.
    func hasWork(_ last: RecordNumber, indexes: Int) throws -> Bool {
        isQueued = try reached != nil || isEnough(last, indexes: indexes)
        return isQueued
    }

    /// Whether a pass is worth it.
    ///
    /// As for names (`NameWriter`): with N entries in `index_values`, W waiting and C in a commit, that is where
    /// W² = 2CN. N and C are about those of records, once for each index.
    private func isEnough(
        _ last: RecordNumber, indexes: @autoclosure () -> Int
    ) throws -> Bool {
        let count = try count()
        guard count >= Self.waitingMin else { return false }
        let root = (2 * Self.commitRecords * Double(max(0, last.value))).squareRoot()
        return count >= min(Self.waitingMax, Int(root) * max(1, indexes()))
    }

    private func count() throws -> Int {
        if let waiting { return waiting }
        let row = try connection.prepare("SELECT count(*) FROM new_index_values")
        defer { row.reset() }
        let count = try row.step() ? Int(row.int64(0)) : 0
        waiting = count
        return count
    }

    /// Moves some of the entries that wait, behind those of the step before.
    ///
    /// Where a pass has come to is kept in memory alone: what it leaves out the next one moves.
    func step(entriesMax: Int) throws {
        // More than have come since, or else a busy store would have more and more waiting.
        let wanted = max(1, entriesMax, 2 * addedSinceStep)
        let limit = max(addedSinceStep, min(Self.stepMax, wanted))
        addedSinceStep = 0
        let from = reached ?? .first
        from.bind(to: bound, at: 1)
        bound.bind(Int64(limit - 1), at: 5)
        let through = try last(of: bound)
        for statement in [move, clear] {
            from.bind(to: statement, at: 1)
            (through ?? .last).bind(to: statement, at: 5)
            try statement.run()
        }
        waiting = waiting.map { $0 - connection.changeCount }
        reached = through
    }

    private func last(of rows: Statement) throws -> Entry? {
        defer { rows.reset() }
        guard try rows.step() else { return nil }
        return Entry(
            index: rows.int64(0), zone: rows.int64(1),
            value: try IndexValue(rows, column: 2), record: rows.int64(3))
    }
}

extension IndexKind {
    /// Whether such an index has entries of values, which come in no order.
    var keepsValues: Bool {
        switch self {
        case .values, .folded: true
        case .words, .places: false
        }
    }
}
