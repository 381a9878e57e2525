import CloudModel
import SQLite
import Storage
import StoredRows

// The queue of work.
extension SQLiteTransaction {
    /// The longest that work may be postponed or held.
    static let workDelayMillisecondsMax: Milliseconds = 3_600_000

    func enqueue(_ task: WorkTask, concerning children: MovedChildren?) throws {
        let (number, row) = (try Self.workNumbers.number(of: task), WorkRow(task))
        try workStatements().enqueue.run(number, row.subject, row.item, row.name)
        moved.insert(.work)
        if case .cover(let record, let zone) = task, let children {
            try mark(children, of: record, in: zone)
        }
    }

    func takeWork(
        _ turn: inout WorkTurn, heldUntil moment: Milliseconds?
    ) throws -> StoredWork? {
        let holder = turn.holder
        let work = try Self.workNumbers.next(&turn) {
            try take($0, afterSubject: $1, holder)
        }
        if let moment, let work { try hold(work, by: holder, until: moment) }
        return work
    }

    /// The first work with a number in the queue that is due, and that no other holder holds.
    func take(
        _ number: Int64, afterSubject last: Int64, _ holder: WorkHolder
    ) throws -> (subject: Int64, StoredWork)? {
        let statement = try workStatements().take
        defer { statement.reset() }
        statement.bind(number, last, now, holder.value)
        guard try statement.step() else { return nil }
        let row = WorkRow(
            subject: statement.int64(1), item: statement.int64(2), name: statement.string(3))
        return (
            row.subject,
            StoredWork(
                number: WorkNumber(statement.int64(0)),
                task: try Self.workNumbers.task(number, row), cursor: statement.int64(4),
                failures: Int(statement.int64(5)))
        )
    }

    private func hold(_ work: StoredWork, by holder: WorkHolder, until moment: Milliseconds) throws
    {
        try workStatements().hold.run(
            work.number.value, holder.value, now, min(moment, now + Self.workDelayMillisecondsMax))
        // Else two would do the same work at once.
        guard connection.changeCount == 1 else {
            throw BrokenInvariant(
                "work is held by one alone: \(work.number.value) is another's or is not there")
        }
    }

    func leave(_ work: StoredWork, _ rest: WorkRemainder?) throws {
        guard let rest else { return try end(work) }
        let due = rest.due ?? pauseOfSpace(after: work)
        try workStatements().leave.run(
            work.number.value, rest.cursor,
            due.map { min($0, now + Self.workDelayMillisecondsMax) }, rest.isFailure ? 1 : 0)
        if rest.cursor != nil { moveCovered(by: work) }
    }

    /// A step that covers records by shares moves what their viewers are shown.
    private func moveCovered(by work: StoredWork) {
        if case .cover(_, in: let zone) = work.task { moved.insert(.zone(zone)) }
    }

    private func end(_ work: StoredWork) throws {
        // More may have come since the last look.
        if work.task == .maintenance(.lateEntries), try hasLateEntries() {
            return try advance(work, to: 0)
        }
        try workStatements().finish.run(work.number.value)
        if case .cover(let record, _) = work.task { try endCoverageWork(record) }
        moveCovered(by: work)
    }
}
