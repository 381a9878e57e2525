import CloudModel

/// The number of a piece of work in its queue; never used again.
package struct WorkNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// What kinds of work a store keeps for later.
package enum WorkKind: Hashable, Sendable {
    case cover
    case deleteSources
    case collect
    case collectAssets
    case tellRequests
    /// What an engine leaves for itself, by steps within transactions.
    case maintenance
    /// What it leaves for itself, by steps that are transactions of their own.
    case maintenanceBeside
}

/// Work that an engine leaves for itself, such as bringing into order what writes have left.
///
/// What it does is the engine's own. Others do it in steps, and report by its name how it goes.
package struct Maintenance: Hashable, Sendable {
    /// What the engine calls it, for operators.
    package let name: String
    /// Whether its steps are transactions of their own, which `Store.maintain` does; else `WorkQueue.maintain` does
    /// one within a transaction.
    package let isBeside: Bool
    /// How much a step in a transaction may do, by the engine's own measure.
    package let step: ClosedRange<Int>
    /// How much the first step does, when nothing is known yet about how long it takes.
    package let firstStep: Int

    package var kind: WorkKind { isBeside ? .maintenanceBeside : .maintenance }

    package init(_ name: String, isBeside: Bool, step: ClosedRange<Int>, firstStep: Int) {
        self.name = name
        self.isBeside = isBeside
        self.step = step
        self.firstStep = firstStep
    }
}

/// Something that a write leaves to be done in steps afterwards.
///
/// Two equal tasks are one piece of work.
package enum WorkTask: Hashable, Sendable {
    /// Lets the share that covers a record cover the record's children, too.
    ///
    /// Until it is finished, the shares that it concerns are not whole.
    case cover(RecordNumber, in: ZoneNumber)
    /// Deletes the records that referred by DELETE_SELF to a public record when it was deleted (rulings.md
    /// 45).
    ///
    /// Queue it in the deletion's own transaction, when such records of other people are left.
    case deleteSources(of: RecordName, in: ZoneNumber, deletedAt: Position)
    /// Removes what nobody can ask for any more.
    case collect
    /// Removes assets that nothing refers to.
    case collectAssets
    /// Shows a request to take part in a share to those who may decide on it.
    ///
    /// Nil when the request led to no share: it leaves the same work, so that nobody can tell the difference.
    case tellRequests(ShareNumber?)
    /// What the engine has left for itself.
    case maintenance(Maintenance)

    package var kind: WorkKind {
        switch self {
        case .cover: .cover
        case .deleteSources: .deleteSources
        case .collect: .collect
        case .collectAssets: .collectAssets
        case .tellRequests: .tellRequests
        case .maintenance(let maintenance): maintenance.kind
        }
    }

    /// What logs call it: its kind, or what the engine calls what it has left for itself.
    package var word: String {
        if case .maintenance(let maintenance) = self { maintenance.name } else { "\(kind)" }
    }
}

/// A piece of work as it stands in the queue.
package struct StoredWork: Sendable {
    package let number: WorkNumber
    package let task: WorkTask
    /// How far the work has come, in its kind's own terms; 0 at first.
    package let cursor: Int64
    /// How many times in a row its step has failed.
    package let failures: Int

    package init(number: WorkNumber, task: WorkTask, cursor: Int64, failures: Int) {
        self.number = number
        self.task = task
        self.cursor = cursor
        self.failures = failures
    }
}

/// One of several workers that may work at the same time; each has its own number.
package struct WorkHolder: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// Who looks for work, and where their last look ended.
///
/// Kinds of work take turns, and so do subjects (for example zones) within a kind. So one person's large tree
/// keeps nobody waiting. Work on one subject is done in the order in which it was queued.
package struct WorkTurn: Sendable {
    package let holder: WorkHolder
    /// The kinds to look for.
    package let kinds: [WorkKind]
    /// Where in `kinds` the next look begins.
    package var next = 0
    /// For each kind, the subject that had the last turn.
    package var subjects: [WorkKind: Int64] = [:]

    package init(_ holder: WorkHolder, _ kinds: [WorkKind]) {
        self.holder = holder
        self.kinds = kinds
    }
}

/// What a write does with the queue of work; part of every transaction.
///
/// A step of work and the note of how far it came are one transaction. So a crash neither loses nor repeats a
/// step. A worker that does steps outside of transactions holds the work meanwhile, for a limited time.
package protocol WorkQueue: AnyObject {
    /// Puts work at the end of the queue; once that is committed, who waits for `StorePart.work` is told.
    ///
    /// Work that is queued already keeps its place and begins anew.
    ///
    /// - Parameter moved: what `cover` has to tell to others; nil for other work.
    func enqueue(_ task: WorkTask, concerning moved: MovedChildren?) throws

    /// The next work that is due and that no other holder holds.
    ///
    /// - Parameters:
    ///   - turn: moves on to the work that is taken.
    ///   - moment: until then no other holder takes work on the same subject; nil for a step within the transaction.
    func takeWork(_ turn: inout WorkTurn, heldUntil moment: Milliseconds?) throws -> StoredWork?

    /// Notes what is left of work after a step, nil for nothing; nobody holds it any more.
    func leave(_ work: StoredWork, _ rest: WorkRemainder?) throws

    /// Does a step of maintenance.
    ///
    /// - Parameter step: how much it may do, by the measure of `Maintenance.step`.
    /// - Returns: whether there is more to do.
    func maintain(_ maintenance: Maintenance, step: Int) throws -> Bool
}

/// Which shares a record's children leave or join by the work `cover`, and since when.
package struct MovedChildren: Sendable {
    package let shares: [ShareNumber]
    package let since: Position

    package init(of shares: [ShareNumber], since: Position) {
        self.shares = shares
        self.since = since
    }
}

/// What is left of work after a step.
package struct WorkRemainder: Sendable {
    /// How far the work has come; nil for as far as before.
    package var cursor: Int64?
    /// Before when it is not due; nil for when it was due before.
    package var due: Milliseconds?
    /// Whether the step failed, which is counted; else the count begins anew.
    package var isFailure = false
}

extension WorkQueue {
    /// Queues work that concerns no share.
    package func enqueue(_ task: WorkTask) throws { try enqueue(task, concerning: nil) }

    /// The next work, for a step within the transaction.
    package func takeWork(_ turn: inout WorkTurn) throws -> StoredWork? {
        try takeWork(&turn, heldUntil: nil)
    }

    /// Removes work that is done.
    package func finish(_ work: StoredWork) throws { try leave(work, nil) }

    /// Notes how far work has come after a step that succeeded.
    package func advance(_ work: StoredWork, to cursor: Int64) throws {
        try leave(work, WorkRemainder(cursor: cursor))
    }

    /// Leaves the rest of work for later, though nothing failed: it is not due before a moment.
    package func wait(_ work: StoredWork, until moment: Milliseconds) throws {
        try leave(work, WorkRemainder(due: moment))
    }

    /// Notes that a step failed: the work is not due before a moment.
    package func postpone(_ work: StoredWork, until moment: Milliseconds) throws {
        try leave(work, WorkRemainder(due: moment, isFailure: true))
    }
}
