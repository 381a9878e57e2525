import CloudModel
import IndexedQueries
import SQLite
import Storage

/// Keeps the entries of indexes of values in their order, on the writer's connection.
///
/// A new entry goes into the small table `new_index_values`, and one that goes is noted in `gone_index_values`. Once
/// they hold enough, queued work brings `index_values` to what they say, in the order of all three. So one step writes
/// each page once for all that changes on it.
final class IndexValueWriter {
    private let connection: Connection
    private let new: IndexValueTable
    private let gone: IndexValueTable
    private let old: IndexValueTable
    private let bound: Statement
    private let goneInRange: Statement
    private let goneBound: Statement
    private let clearGone: Statement
    private let move: Statement
    private let clearNew: Statement
    /// Entries for `new`, in which they are not yet: one statement is to insert several.
    private var coming: [IndexValueRow] = []
    /// Of the entries that wait in the two small tables.
    private var pace = MergePace(waitingMax: 200_000, stepMax: 8_192)
    /// Whether entries may be noted as gone; nil when nobody has looked.
    private var hasGone: Bool?
    /// The entry that the pass has come to; nil between two passes.
    private var reached: IndexValueRow?

    init(_ connection: Connection) {
        self.connection = connection
        new = IndexValueTable("new_index_values", connection)
        gone = IndexValueTable("gone_index_values", connection)
        old = IndexValueTable("index_values", connection)
        let columns = IndexValueRow.columns
        func behind(_ table: String) -> String {
            "SELECT \(columns) FROM \(table) WHERE (\(columns)) > (?1, ?2, ?3, ?4)"
        }
        bound = connection.statement(
            """
            \(behind("new_index_values")) UNION ALL \(behind("gone_index_values"))
            ORDER BY \(columns) LIMIT 1 OFFSET ?5
            """)
        let end = "(\(columns)) <= (?5, ?6, ?7, ?8)"
        let range = "WHERE (\(columns)) > (?1, ?2, ?3, ?4) AND \(end)"
        goneInRange = connection.statement(
            "\(behind("gone_index_values")) AND \(end) ORDER BY \(columns)")
        goneBound = connection.statement(
            "\(behind("gone_index_values")) AND \(end) ORDER BY \(columns) LIMIT 1 OFFSET ?9")
        clearGone = connection.statement("DELETE FROM gone_index_values \(range)")
        move = connection.statement(
            """
            INSERT OR IGNORE INTO index_values
            \(behind("new_index_values")) AND \(end) ORDER BY \(columns)
            """)
        clearNew = connection.statement("DELETE FROM new_index_values \(range)")
    }

    /// What it has counted was undone.
    func rolledBack() {
        pace.rolledBack()
        hasGone = nil
        coming = []
    }

    /// Adds an entry that no index has; it is there after `finish`.
    func add(
        _ value: IndexValue, _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64
    ) throws {
        let entry = IndexValueRow(value, record, zone, index)
        if try isBack(entry) { return }
        coming.append(entry)
        pace.add()
        if coming.count == IndexValueTable.together { try finish() }
    }

    /// Writes what has been added.
    func finish() throws {
        guard !coming.isEmpty else { return }
        try new.add(coming)
        coming.removeAll(keepingCapacity: true)
    }

    /// Adds that a record has no value: these entries come in order by themselves, but for records that had one.
    func addAbsent(
        _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64, isNew: Bool
    ) throws {
        guard isNew else { return try add(.integer(0), record, zone, -index) }
        let entry = IndexValueRow(.integer(0), record, zone, -index)
        if try !isBack(entry) { try old.add(entry) }
    }

    /// Forgets that an entry has gone.
    ///
    /// - Returns: whether it had, so that it is there again.
    private func isBack(_ entry: IndexValueRow) throws -> Bool {
        guard try isAnyGone(), try gone.remove(entry) else { return false }
        pace.remove(1)
        return true
    }

    /// Removes an entry, wherever it is.
    func remove(
        _ value: IndexValue, _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64
    ) throws {
        try finish()
        let entry = IndexValueRow(value, record, zone, index)
        if try new.remove(entry) {
            pace.remove(1)
        } else {
            try gone.add(entry)
            pace.add()
            hasGone = true
        }
    }

    /// Removes that a record has no value.
    func removeAbsent(_ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64) throws {
        try remove(.integer(0), record, zone, -index)
    }

    /// Removes all entries of a record in an index; reads all that the index has of the zone.
    func forget(_ record: RecordNumber, in zone: ZoneNumber, _ index: Int64) throws {
        try finish()
        for number in [index, -index] {
            for table in [new, gone, old] {
                try table.removeAll(of: record, in: zone, number)
            }
        }
        pace.forget()
    }

    private func isAnyGone() throws -> Bool {
        if let hasGone { return hasGone }
        let found = try number("SELECT EXISTS (SELECT 1 FROM gone_index_values)") > 0
        hasGone = found
        return found
    }

    private func countWaiting() throws -> Int {
        try coming.count
            + number(
                """
                SELECT (SELECT count(*) FROM new_index_values)
                    + (SELECT count(*) FROM gone_index_values)
                """)
    }

    private func number(_ sql: String) throws -> Int {
        let row = try connection.prepare(sql)
        defer { row.reset() }
        return try row.step() ? Int(row.int64(0)) : 0
    }

    // MARK: - Queued work

    /// Whether work on entries is to be queued, which it is not yet.
    ///
    /// - Parameters:
    ///   - last: the last record.
    ///   - indexes: how many indexes of values there are.
    func isDue(_ last: RecordNumber, indexes: @autoclosure () -> Int) throws -> Bool {
        try pace.isDue(last, perRecord: indexes(), count: countWaiting)
    }

    /// Whether a pass goes on, or enough wait for the next one.
    func hasWork(_ last: RecordNumber, indexes: Int) throws -> Bool {
        pace.isQueued =
            try reached != nil
            || pace.isEnough(last, perRecord: indexes, count: countWaiting)
        return pace.isQueued
    }

    /// Whether a pass goes on: its next step begins behind entries that it has brought into order.
    var isPassing: Bool { reached != nil }

    /// Brings some of the entries that wait into order, behind those of the step before.
    ///
    /// Where a pass has come to is kept in memory alone: what it leaves out the next one moves.
    func step(entriesMax: Int) throws {
        let from = reached ?? .first
        from.bind(to: bound, at: 1)
        bound.bind(Int64(pace.takeStep(entriesMax) - 1), at: 5)
        let next = try bound.step() ? IndexValueRow(bound) : nil
        bound.reset()
        let range = (from, next ?? .last)
        try takeOut(range)
        try run(move, range)
        pace.remove(try run(clearNew, range))
        reached = next
    }

    /// Takes some of what has gone out of an index that is empty but for that.
    ///
    /// - Returns: whether nothing is left of it.
    func clear(_ index: Int64, entriesMax: Int) throws -> Bool {
        for number in [-index, index] {
            let from = IndexValueRow(index: number, zone: .min, value: .integer(0), record: 0)
            let end = IndexValueRow(index: number + 1, zone: .min, value: .integer(0), record: 0)
            bind((from, end), to: goneBound)
            goneBound.bind(Int64(max(1, entriesMax) - 1), at: 9)
            let last = try goneBound.step() ? IndexValueRow(goneBound) : nil
            goneBound.reset()
            try takeOut((from, last ?? end))
            guard last == nil else { return false }
        }
        return true
    }

    /// Takes what has gone out of `index_values`.
    private func takeOut(_ range: (IndexValueRow, IndexValueRow)) throws {
        guard try isAnyGone() else { return }
        // Entry by entry: SQLite would scan the index for the members of a query's result.
        bind(range, to: goneInRange)
        do {
            defer { goneInRange.reset() }
            while try goneInRange.step() { _ = try old.remove(IndexValueRow(goneInRange)) }
        }
        pace.remove(try run(clearGone, range))
        hasGone = nil
    }

    private func bind(_ range: (IndexValueRow, IndexValueRow), to statement: Statement) {
        range.0.bind(to: statement, at: 1)
        range.1.bind(to: statement, at: 5)
    }

    /// - Returns: how many entries that changed.
    @discardableResult
    private func run(_ statement: Statement, _ range: (IndexValueRow, IndexValueRow)) throws -> Int
    {
        bind(range, to: statement)
        try statement.run()
        return connection.changeCount
    }
}

extension IndexKind {
    /// Whether such an index has entries of values, which come in no order.
    var keepsValues: Bool {
        switch self {
        case .values, .folded: true
        case .words, .locations: false
        }
    }
}
