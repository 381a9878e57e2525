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
    /// Whether the current group ends it.
    private var isPassEnding = false

    /// The most names that wait before a pass begins: they are read when the store is opened.
    private static let namesWaitingMax = 200_000

    init(
        _ connection: Connection, _ reader: NameReader, _ waiting: WaitingNames
    ) {
        self.connection = connection
        self.reader = reader
        self.waiting = waiting
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
            // Readers that are older than this pass may still need what it brought in, but not what the last one did.
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

    /// Whether no name with this hash leads to a record.
    func leadsNowhere(_ hash: Int64) throws -> Bool { try reader.leadsNowhere(hash) }

    /// Lets a name lead to the record of a head that was just made.
    ///
    /// - Returns: the number that the record has now, which none has had before, and whether work on names is to be
    ///   queued, which it is not yet.
    func place(_ hash: Int64, _ made: RecordNumber) throws -> (RecordNumber, isDue: Bool) {
        let state = try reader.state()
        let record = RecordNumber(waiting.take(hash, made.value))
        if record != made {
            // The number of a head that has gone: what is known of that one must not lead to this one.
            renumber.bind(made.value, at: 1)
            renumber.bind(record.value, at: 2)
            try renumber.run()
        }
        pace.add()
        return (record, pace.isDue(record) { waiting.count(behind: state.through) })
    }

    /// Lets the name of a record that goes lead nowhere; before its head goes.
    ///
    /// Waiting names stay known: older snapshots still have the head.
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
    /// - Returns: whether there is more to do.
    func step(namesMax: Int) throws -> Bool {
        let limit = pace.takeStep(namesMax)
        pace.isQueued = try step(limit, reader.state())
        return pace.isQueued
    }

    private func step(_ limit: Int, _ state: NameState) throws -> Bool {
        if var pass, pass.through > state.through {
            try bringIn(&pass, limit)
            self.pass = pass
            guard pass.isDone else { return true }
            note.bind(pass.through, at: 1)
            try note.run()
            isPassEnding = true
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
    private func bringIn(_ pass: inout NamePass, _ limit: Int) throws {
        for entry in pass.take(limit) {
            insert.bind(entry.hash, at: 1)
            insert.bind(entry.record, at: 2)
            try insert.run()
        }
    }
}
