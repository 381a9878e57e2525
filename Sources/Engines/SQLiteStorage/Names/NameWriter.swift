import CloudModel
import SQLite
import Storage

/// Keeps the names of records in the order of their hashes, on the writer's connection.
///
/// A new name goes into the small table `new_names`. Once that holds enough, queued work moves its names into `names`
/// in the order of the hash. So one step writes each page of `names` once, for all of the page's names.
final class NameWriter {
    private let connection: Connection
    private let reader: NameReader
    private let moveRoom: MoveRoom
    private let add: Statement
    private let head: Statement
    private let leading: Statement
    private let forgetNew: Statement
    private let forgetOld: Statement
    /// Of the names that wait in `new_names`.
    private var pace = MergePace(waitingMax: .max, stepMax: 4_096)
    /// What the last step has moved of what a former server has left; nil for nothing.
    private(set) var formerMove: FormerMove?

    init(_ connection: Connection, _ reader: NameReader, _ moveRoom: MoveRoom) throws {
        self.connection = connection
        self.reader = reader
        self.moveRoom = moveRoom
        add = try connection.prepare("INSERT INTO new_names (hash, record) VALUES (?1, ?2)")
        head = try connection.prepare("SELECT zone, name FROM heads WHERE id = ?1")
        leading = try connection.prepare(
            """
            SELECT 1 FROM new_names WHERE hash = ?1 UNION ALL SELECT 1 FROM names WHERE hash = ?1
            """)
        forgetNew = try connection.prepare("DELETE FROM new_names WHERE hash = ?1 AND record = ?2")
        forgetOld = try connection.prepare("DELETE FROM names WHERE hash = ?1 AND record = ?2")
    }

    /// What it has counted was undone.
    func rolledBack() {
        pace.rolledBack()
        reader.forget()
    }

    /// Whether no name with this hash leads to a record; false where only the names' text would tell.
    func leadsNowhere(_ hash: Int64) throws -> Bool {
        guard try reader.isWhole() else { return false }
        leading.bind(hash, at: 1)
        defer { leading.reset() }
        return try !leading.step()
    }

    /// Lets a name lead to a record.
    ///
    /// - Returns: whether work on names is to be queued, which it is not yet.
    func add(_ hash: Int64, _ record: RecordNumber) throws -> Bool {
        add.bind(hash, at: 1)
        add.bind(record.value, at: 2)
        try add.run()
        pace.add()
        return try pace.isDue(record, count: count)
    }

    /// Lets the name of a record that goes lead nowhere; before its head goes.
    func remove(_ record: RecordNumber) throws {
        head.bind(record.value, at: 1)
        defer { head.reset() }
        guard try head.step() else { return }
        let hash = reader.hash(head.bytes(1), in: ZoneNumber(head.int64(0)))
        for statement in [forgetOld, forgetNew] {
            statement.bind(hash, at: 1)
            statement.bind(record.value, at: 2)
            try statement.run()
        }
        pace.remove(connection.changeCount)
    }

    private func count() throws -> Int {
        try Int(value("SELECT count(*) FROM new_names"))
    }

    // MARK: - Queued work

    /// Does a step.
    ///
    /// - Parameter cursor: where the step before ended; 0 at first.
    /// - Returns: where the next one begins; nil when there is nothing left to do.
    func step(after cursor: Int64, namesMax: Int) throws -> Int64? {
        formerMove = nil
        let limit = pace.takeStep(namesMax)
        let last = RecordNumber(
            try value("SELECT coalesce(max(id), 0) FROM heads"))
        if cursor == 0, try !pace.isEnough(last, count: count) {
            pace.isQueued = try !reader.isWhole()
            if pace.isQueued { formerMove = try moveFormer(limit) }
            return pace.isQueued ? 0 : nil
        }
        pace.isQueued = true
        let next = try merge(from: cursor ^ NameHash.first, limit)
        if let next { return next ^ NameHash.first }
        pace.isQueued = try !reader.isWhole() || pace.isEnough(last, count: count)
        return pace.isQueued ? 0 : nil
    }

    /// Moves names from a hash on.
    ///
    /// - Returns: the hash to go on from; nil after the last one.
    private func merge(from first: Int64, _ limit: Int) throws -> Int64? {
        let through =
            try value(
                "SELECT hash FROM new_names WHERE hash >= ?1 ORDER BY hash LIMIT 1 OFFSET ?2",
                first, Int64(limit - 1), orElse: .max)
        let range = "new_names WHERE hash BETWEEN ?1 AND ?2"
        for sql in [
            "INSERT INTO names SELECT hash, record FROM \(range) ORDER BY hash, record",
            "DELETE FROM \(range)",
        ] {
            let statement = try connection.prepare(sql)
            statement.bind(first, at: 1)
            statement.bind(through, at: 2)
            try statement.run()
        }
        pace.remove(connection.changeCount)
        return through == .max ? nil : through + 1
    }

    /// Lets the hashes of records lead to them that a version before hashes has left, in the order of records.
    ///
    /// With the last of them, the index of their text is none any more.
    ///
    /// - Throws: `NoRoomToMove` where the disk is too full.
    private func moveFormer(_ limit: Int) throws -> FormerMove {
        try moveRoom.require(for: connection)
        let through = try value("SELECT names_through FROM progress WHERE id = 0")
        let rows = try connection.prepare(
            "SELECT id, zone, name FROM heads WHERE id > ?1 ORDER BY id LIMIT ?2")
        defer { rows.reset() }
        rows.bind(through, at: 1)
        rows.bind(Int64(limit), at: 2)
        var moved: [(hash: Int64, record: Int64)] = []
        while try rows.step() {
            let hash = reader.hash(rows.bytes(2), in: ZoneNumber(rows.int64(1)))
            moved.append((hash, rows.int64(0)))
        }
        rows.reset()
        let last = moved.last?.record ?? through
        moved.sort { $0.hash < $1.hash }
        for (hash, record) in moved {
            add.bind(hash, at: 1)
            add.bind(record, at: 2)
            try add.run()
        }
        pace.addByWork(moved.count)
        guard moved.count < limit else {
            let note = try connection.prepare(
                "UPDATE progress SET names_through = ?1 WHERE id = 0")
            note.bind(last, at: 1)
            try note.run()
            return FormerMove(rows: .names, count: moved.count, isDone: false)
        }
        try endFormer()
        return FormerMove(rows: .names, count: moved.count, isDone: true)
    }

    /// Ends the former way of finding names: once in the life of a store, a tenth of a second for a million names.
    private func endFormer() throws {
        try connection.execute(
            """
            DROP INDEX heads_by_name;
            UPDATE progress SET names_through = NULL WHERE id = 0
            """)
    }

    /// Lets a store without records begin with hashes.
    static func begin(_ connection: Connection) throws {
        let isNew = try connection.prepare(
            """
            SELECT 1 FROM progress WHERE names_through IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM heads)
            """)
        defer { isNew.reset() }
        guard try isNew.step() else { return }
        isNew.reset()
        try connection.execute(
            """
            BEGIN IMMEDIATE;
            DROP INDEX heads_by_name;
            UPDATE progress SET names_through = NULL WHERE id = 0;
            COMMIT
            """)
    }

    private func value(
        _ sql: String, _ values: Int64..., orElse missing: Int64 = 0
    ) throws -> Int64 {
        let row = try connection.prepare(sql)
        defer { row.reset() }
        for (index, value) in values.enumerated() { row.bind(value, at: Int32(index + 1)) }
        return try row.step() ? row.int64(0) : missing
    }
}
