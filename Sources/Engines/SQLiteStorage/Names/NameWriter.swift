import CloudModel
import SQLite
import Storage

/// Lets names lead to records, on the writer's connection.
///
/// A new name waits: its head is there, and its hash in the memory that all share. Once enough wait, queued work brings
/// them into `names` in the order of the hash. So one step writes each page of `names` once, for all of the page's
/// names.
final class NameWriter {
    private let connection: Connection
    private let reader: NameReader
    private let waiting: WaitingNames
    private let moveRoom: MoveRoom
    private let head: Statement
    private let renumber: Statement
    private let insert: Statement
    private let forget: Statement
    private let note: Statement
    /// Of the names that wait.
    private var pace = MergePace(
        waitingMin: 2_000, waitingMax: NameWriter.namesWaitingMax, share: 4, stepMax: 4_096)
    /// The pass that goes on.
    private var pass: NamePass?
    /// Whether the group at work ends it.
    private var isPassEnding = false
    /// What the last step has moved of what a former server has left; nil for nothing.
    private(set) var formerMove: FormerMove?

    /// The most names that wait before a pass begins: they are read when the store is opened.
    private static let namesWaitingMax = 400_000
    /// How many names of a former server a pass brings in.
    private static let namesCollectedMax = 400_000

    init(
        _ connection: Connection, _ reader: NameReader, _ waiting: WaitingNames,
        _ moveRoom: MoveRoom
    ) {
        self.connection = connection
        self.reader = reader
        self.waiting = waiting
        self.moveRoom = moveRoom
        head = connection.statement("SELECT zone, name FROM heads WHERE id = ?1")
        renumber = connection.statement("UPDATE heads SET id = ?2 WHERE id = ?1")
        insert = connection.statement(
            "INSERT OR IGNORE INTO names (hash, record) SELECT ?1, id FROM heads WHERE id = ?2")
        forget = connection.statement("DELETE FROM names WHERE hash = ?1 AND record = ?2")
        note = connection.statement("UPDATE progress SET names_through = ?1 WHERE id = 0")
    }

    /// What the group has done is committed.
    func committed() {
        guard let pass else { return }
        if isPassEnding {
            // Readers of before this pass may still need what it has brought in, but not what the one before has.
            waiting.forget(through: pass.after)
            self.pass = nil
            isPassEnding = false
        } else {
            self.pass?.noteCommit()
        }
    }

    /// What it has counted was undone.
    func rolledBack() {
        pace.rolledBack()
        pass?.rolledBack()
        isPassEnding = false
        reader.forget()
    }

    /// Whether no name with this hash leads to a record; false where only the names' text would tell.
    func leadsNowhere(_ hash: Int64) throws -> Bool { try reader.leadsNowhere(hash) }

    /// Lets a name lead to the record of a head that was just made.
    ///
    /// - Returns: the number that the record has now, which none has had before, and whether work on names is to be
    ///   queued, which it is not yet.
    func place(_ hash: Int64, _ made: RecordNumber) throws -> (RecordNumber, isDue: Bool) {
        let state = try reader.state()
        let record = RecordNumber(waiting.take(state.isByText ? nil : hash, made.value))
        if record != made {
            // The number of a head that has gone: what is known of that one must not lead to this one.
            renumber.bind(made.value, at: 1)
            renumber.bind(record.value, at: 2)
            try renumber.run()
        }
        guard !state.isByText else { return (record, false) }
        pace.add()
        return (record, pace.isDue(record) { waiting.count(behind: state.through) })
    }

    /// Lets the name of a record that goes lead nowhere; before its head goes.
    ///
    /// What waits stays known: snapshots of before still have the head.
    func remove(_ record: RecordNumber) throws {
        head.bind(record.value, at: 1)
        defer { head.reset() }
        guard try head.step() else { return }
        forget.bind(reader.hash(head.bytes(1), in: ZoneNumber(head.int64(0))), at: 1)
        forget.bind(record.value, at: 2)
        try forget.run()
    }

    // MARK: - Queued work

    /// Does a step: it begins a pass, or brings some names in.
    ///
    /// - Parameter cursor: where the step before ended; 0 at first. Where a pass has come to, it knows itself.
    /// - Returns: where the next one begins; nil when there is nothing left to do.
    func step(after cursor: Int64, namesMax: Int) throws -> Int64? {
        formerMove = nil
        let limit = pace.takeStep(namesMax)
        let state = try reader.state()
        pace.isQueued = try state.isByText ? stepOfFormer(limit, state) : step(limit, state)
        return pace.isQueued ? 1 : nil
    }

    /// - Returns: whether there is more to do.
    private func step(_ limit: Int, _ state: NameState) throws -> Bool {
        if var pass, pass.through > state.through {
            try bringIn(&pass, limit)
            self.pass = pass
            guard pass.isDone else { return true }
            try end(pass)
            return isEnough(behind: pass.through, state)
        }
        // NB: one whose end was committed although another write of its group was undone.
        if pass != nil { isPassEnding = true }
        guard isEnough(behind: state.through, state) else { return false }
        if pass == nil {
            pass = NamePass(after: state.through, waiting.entries(behind: state.through))
        }
        return true
    }

    private func isEnough(behind record: Int64, _ state: NameState) -> Bool {
        pace.forget()
        return pace.isEnough(RecordNumber(state.last)) { waiting.count(behind: record) }
    }

    /// Brings in the next names of a pass, but for those of records that have gone.
    ///
    /// - Returns: how many it has gone through.
    @discardableResult
    private func bringIn(_ pass: inout NamePass, _ limit: Int) throws -> Int {
        let entries = pass.take(limit)
        for entry in entries {
            insert.bind(entry.hash, at: 1)
            insert.bind(entry.record, at: 2)
            try insert.run()
        }
        return entries.count
    }

    private func end(_ pass: NamePass) throws {
        note.bind(pass.through, at: 1)
        try note.run()
        isPassEnding = true
    }

    /// Does a step in a store of before hashes: it collects names, or brings some of them in.
    ///
    /// - Returns: whether there is more to do.
    /// - Throws: `NoRoomToMove` where the disk is too full.
    private func stepOfFormer(_ limit: Int, _ state: NameState) throws -> Bool {
        try moveRoom.require(for: connection)
        var pass = self.pass ?? NamePass(after: state.through)
        defer { self.pass = pass }
        guard pass.isOrdered else {
            let isLast = try collect(&pass, limit)
            if isLast || pass.count >= Self.namesCollectedMax { pass.order() }
            return true
        }
        let count = try bringIn(&pass, limit)
        var isDone = false
        if pass.isDone {
            try end(pass)
            isDone = try !hasHeads(behind: pass.through, moreThan: limit)
            if isDone { try endFormer() }
        }
        formerMove = FormerMove(rows: .names, count: count, isDone: isDone)
        return !isDone
    }

    /// - Returns: whether there are no more names.
    private func collect(_ pass: inout NamePass, _ limit: Int) throws -> Bool {
        let rows = try connection.prepare(
            "SELECT id, zone, name FROM heads WHERE id > ?1 ORDER BY id LIMIT ?2")
        defer { rows.reset() }
        rows.bind(pass.through, at: 1)
        rows.bind(Int64(limit), at: 2)
        var count = 0
        while try rows.step() {
            let hash = reader.hash(rows.bytes(2), in: ZoneNumber(rows.int64(1)))
            pass.collect(NameChains.Entry(hash: hash, record: rows.int64(0)))
            count += 1
        }
        return count < limit
    }

    private func hasHeads(behind record: Int64, moreThan count: Int) throws -> Bool {
        let row = try connection.prepare("SELECT 1 FROM heads WHERE id > ?1 LIMIT 1 OFFSET ?2")
        defer { row.reset() }
        row.bind(record, at: 1)
        row.bind(Int64(count), at: 2)
        return try row.step()
    }

    private static let endOfFormer = """
        DROP INDEX heads_by_name;
        UPDATE progress SET names_by_text = 0 WHERE id = 0;
        """

    /// Ends the former way of finding names: once in the life of a store, a tenth of a second for a million names.
    ///
    /// The few that have come during the last pass wait from now on.
    private func endFormer() throws {
        try connection.execute(Self.endOfFormer)
        reader.forget()
        try waiting.begin(NameState.read(connection), connection, reader.hash)
    }

    /// Lets a store without records begin with hashes.
    static func begin(_ connection: Connection) throws {
        let isNew = try connection.prepare(
            """
            SELECT 1 FROM progress WHERE names_by_text <> 0 AND NOT EXISTS (SELECT 1 FROM heads)
            """)
        defer { isNew.reset() }
        guard try isNew.step() else { return }
        isNew.reset()
        try connection.execute("BEGIN IMMEDIATE; \(endOfFormer) COMMIT")
    }
}
