import CloudModel

/// A number that a piece of work has in its queue; never used again.
package struct WorkNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// What kinds of work a store keeps for later.
package enum WorkKind: Int64, Sendable, CaseIterable {
    case cover = 1
    case deleteSources = 2
    case index = 3
    case collect = 4
    case collectAssets = 5
    case tellRequests = 6
}

/// Something that a write leaves to be done in steps after it.
///
/// Two that are equal are one piece of work.
package enum WorkTask: Hashable, Sendable {
    /// The children of a record are to be covered by the share that covers it.
    case cover(RecordNumber, in: ZoneNumber)
    /// The records that referred by DELETE_SELF to a public record when it was deleted, at a position,
    /// are to be deleted too (rulings.md 45).
    ///
    /// To be queued in the deletion's own transaction, for a record that others' sources are left of.
    case deleteSources(of: RecordName, in: ZoneNumber, deletedAt: Position)
    /// Indexes are to be filled and emptied.
    case index
    /// Rows that nobody can ask for any more are to be removed.
    case collect
    /// Assets that nothing refers to are to be removed.
    case collectAssets
    /// Who may decide on it is to see that somebody asks to take part in a share; nil for none, where a request
    /// led nowhere and leaves the same work.
    case tellRequests(ShareNumber?)

    package var kind: WorkKind {
        switch self {
        case .cover: .cover
        case .deleteSources: .deleteSources
        case .index: .index
        case .collect: .collect
        case .collectAssets: .collectAssets
        case .tellRequests: .tellRequests
        }
    }
}

/// A piece of work as it stands in the queue.
package struct StoredWork: Sendable {
    package let number: WorkNumber
    package let task: WorkTask
    /// How far it has come, as its kind understands it; 0 at first.
    package let cursor: Int64
    /// How often in a row a step of it has failed.
    package let failures: Int

    package init(number: WorkNumber, task: WorkTask, cursor: Int64, failures: Int) {
        self.number = number
        self.task = task
        self.cursor = cursor
        self.failures = failures
    }
}

/// Who does work: one of several that may do so at the same time, each with a number of its own.
package struct WorkHolder: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// For whom work is looked for, and where the last look ended.
///
/// Kinds take turns, and within a kind its subjects (zones, for one), so that nobody's large tree keeps
/// others waiting. What belongs to one subject is done in the order in which it was asked for.
package struct WorkTurn: Sendable {
    package let holder: WorkHolder
    /// Which kinds are looked for.
    package let kinds: [WorkKind]
    /// Where in `kinds` the next look begins.
    package var next = 0
    /// The subject that had the last turn, by kind.
    package var subjects: [WorkKind: Int64] = [:]

    package init(_ holder: WorkHolder, _ kinds: [WorkKind]) {
        self.holder = holder
        self.kinds = kinds
    }
}

/// What a write does with the queue of work: a part of every transaction.
///
/// A step of work and the note of how far it came are one transaction, so that a crash loses and repeats
/// nothing. Who does steps outside of transactions holds the work meanwhile, for a time.
package protocol WorkQueue: AnyObject {
    /// Puts work at the end of the queue; the store's worker is woken once it is committed.
    ///
    /// Work that is there already stays at its place and begins anew.
    func enqueue(_ task: WorkTask) throws

    /// The next work that is due and that no other holder has.
    ///
    /// - Parameter turn: moves on to what is taken.
    func takeWork(_ turn: inout WorkTurn) throws -> StoredWork?

    /// Holds work that was taken: no other holder takes anything of its subject before a moment.
    func hold(_ work: StoredWork, by holder: WorkHolder, until moment: Milliseconds) throws

    /// Notes how far work has come, and that its step went well.
    func advance(_ work: StoredWork, to cursor: Int64) throws

    /// Leaves work for later that is done well so far: it is not due before a moment.
    func wait(_ work: StoredWork, until moment: Milliseconds) throws

    /// Notes that a step failed: the work is not due before a moment.
    func postpone(_ work: StoredWork, until moment: Milliseconds) throws

    /// Removes work that is done.
    func finish(_ work: StoredWork) throws

    /// When the next work of some kinds will be due or free that is not now; nil when there is none.
    func nextWorkMoment(_ kinds: [WorkKind], for holder: WorkHolder) throws -> Milliseconds?
}

/// Does the work that a store keeps.
package protocol StoreWorker: AnyObject, Sendable {
    /// There is work: called after a commit that has queued some, and when the worker is attached to a
    /// store that has some. Must not block.
    func wake()

    /// Whether a step is on its way, or about to be.
    var isBusy: Bool { get }

    /// Begins no further step and waits for the one that runs, if it runs outside of transactions.
    func stop()
}
