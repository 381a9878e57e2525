import CloudModel
import SQLite
import Storage

// The queue of work.
extension SQLiteTransaction {
    /// The longest that work may be postponed or held.
    static let workDelayMillisecondsMax: Milliseconds = 3_600_000

    func enqueue(_ task: WorkTask) throws {
        let row = WorkRow(task)
        let statement = try workStatements().enqueue
        statement.bind(task.kind.rawValue, at: 1)
        statement.bind(row.subject, at: 2)
        statement.bind(row.item, at: 3)
        statement.bind(row.name, at: 4)
        try statement.run()
        hasQueuedWork = true
    }

    func takeWork(_ turn: inout WorkTurn) throws -> StoredWork? {
        for step in 0..<turn.kinds.count {
            let index = (turn.next + step) % turn.kinds.count
            let kind = turn.kinds[index]
            // Subjects after the last one, then all from the first on.
            let last = turn.subjects[kind] ?? .min
            let found =
                try take(kind, afterSubject: last, turn.holder)
                ?? (last == .min ? nil : take(kind, afterSubject: .min, turn.holder))
            guard let (subject, work) = found else { continue }
            turn.next = index
            turn.subjects[kind] = subject
            return work
        }
        return nil
    }

    private func take(
        _ kind: WorkKind, afterSubject last: Int64, _ holder: WorkHolder
    ) throws -> (subject: Int64, StoredWork)? {
        let statement = try workStatements().take
        defer { statement.reset() }
        statement.bind(kind.rawValue, at: 1)
        statement.bind(last, at: 2)
        statement.bind(now, at: 3)
        statement.bind(holder.value, at: 4)
        guard try statement.step() else { return nil }
        let row = WorkRow(
            subject: statement.int64(1), item: statement.int64(2), name: statement.string(3))
        guard let task = row.task(of: kind) else { throw InvalidRow(table: "work") }
        return (
            row.subject,
            StoredWork(
                number: WorkNumber(statement.int64(0)), task: task, cursor: statement.int64(4),
                failures: Int(statement.int64(5)))
        )
    }

    func hold(_ work: StoredWork, by holder: WorkHolder, until moment: Milliseconds) throws {
        let statement = try workStatements().hold
        statement.bind(work.number.value, at: 1)
        statement.bind(holder.value, at: 2)
        statement.bind(min(moment, now + Self.workDelayMillisecondsMax), at: 3)
        try statement.run()
    }

    func advance(_ work: StoredWork, to cursor: Int64) throws {
        let statement = try workStatements().advance
        statement.bind(work.number.value, at: 1)
        statement.bind(cursor, at: 2)
        try statement.run()
        moveCovered(by: work)
    }

    /// A step that covers records by shares moves what their viewers are shown.
    private func moveCovered(by work: StoredWork) {
        if case .cover(_, in: let zone) = work.task { moved.insert(.zone(zone)) }
    }

    func wait(_ work: StoredWork, until moment: Milliseconds) throws {
        let statement = try workStatements().wait
        statement.bind(work.number.value, at: 1)
        statement.bind(min(moment, now + Self.workDelayMillisecondsMax), at: 2)
        try statement.run()
    }

    func postpone(_ work: StoredWork, until moment: Milliseconds) throws {
        let statement = try workStatements().postpone
        statement.bind(work.number.value, at: 1)
        statement.bind(min(moment, now + Self.workDelayMillisecondsMax), at: 2)
        try statement.run()
    }

    func finish(_ work: StoredWork) throws {
        // More may have come since whoever did the work has looked.
        if case .lateEntries = work.task, try hasLateEntries() {
            return try advance(work, to: 0)
        }
        let statement = try workStatements().finish
        statement.bind(work.number.value, at: 1)
        try statement.run()
        if case .cover(let record, _) = work.task { try endCoverWork(record) }
        moveCovered(by: work)
    }

    func nextWorkMoment(
        _ kinds: [WorkKind], for holder: WorkHolder
    ) throws -> Milliseconds? {
        let statement = try workStatements().nextMoment
        defer { statement.reset() }
        var next: Milliseconds?
        for kind in kinds {
            statement.bind(kind.rawValue, at: 1)
            statement.bind(holder.value, at: 2)
            if try statement.step(), !statement.isNull(0) {
                next = min(next ?? .max, statement.int64(0))
            }
            statement.reset()
        }
        return next
    }
}

/// What a task is in a row of the queue.
private struct WorkRow {
    let subject: Int64
    let item: Int64
    let name: String

    init(subject: Int64, item: Int64, name: String) {
        self.subject = subject
        self.item = item
        self.name = name
    }

    init(_ task: WorkTask) {
        switch task {
        case .cover(let record, in: let zone):
            self.init(subject: zone.value, item: record.value, name: "")
        case .deleteSources(of: let target, in: let zone, let position):
            self.init(subject: position, item: zone.value, name: target.text)
        case .tellRequests(let share):
            self.init(subject: share?.value ?? 0, item: 0, name: "")
        case .index, .collect, .collectAssets, .names, .lateEntries:
            self.init(subject: 0, item: 0, name: "")
        }
    }

    /// Nil for a row that nothing can be made of.
    func task(of kind: WorkKind) -> WorkTask? {
        switch kind {
        case .cover: .cover(RecordNumber(item), in: ZoneNumber(subject))
        case .deleteSources:
            RecordName(name).map {
                .deleteSources(of: $0, in: ZoneNumber(item), deletedAt: subject)
            }
        case .index: .index
        case .collect: .collect
        case .collectAssets: .collectAssets
        case .lateEntries: .lateEntries
        case .tellRequests: .tellRequests(subject == 0 ? nil : ShareNumber(subject))
        case .names: .names
        }
    }
}
