import Storage

/// When entries that wait in a small table are worth a pass over the large one, and how far each step of it goes.
///
/// Rows that come in no order dirty a page each of a large table. So they wait in a small one, which the writer has in
/// memory. A pass moves them in the large one's order, by steps of queued work.
package struct MergePace {
    /// The records that a commit of a busy store brings, about.
    private static let commitRecords = 1_000.0

    /// How many entries a pass is worth, at least.
    private let waitingMin: Int
    /// The most that wait before a pass begins, whatever it is worth: they are to stay in memory.
    private let waitingMax: Int
    /// The part of all records that a pass is worth where what waits lies in no table; nil where it does.
    private let share: Int?
    /// The most entries that a step moves, unless more have come since the last one.
    private let stepMax: Int
    /// How many entries wait; nil when they have not been counted.
    private var waiting: Int?
    private var addedSinceStep = 0
    /// Whether queued work knows that there is something to do.
    package var isQueued = false

    package init(waitingMin: Int = 10_000, waitingMax: Int, share: Int? = nil, stepMax: Int) {
        (self.waitingMin, self.waitingMax) = (waitingMin, waitingMax)
        (self.share, self.stepMax) = (share, stepMax)
    }

    /// Notes that an entry has come.
    package mutating func add() {
        addedSinceStep += 1
        waiting = waiting.map { $0 + 1 }
    }

    /// Notes that entries have gone, or have been moved.
    package mutating func remove(_ count: Int) { waiting = waiting.map { $0 - count } }

    /// Forgets how many wait, so that they are counted again.
    package mutating func forget() { waiting = nil }

    /// What was noted has been undone.
    package mutating func rolledBack() { (waiting, isQueued) = (nil, false) }

    /// Whether a pass is worth it.
    ///
    /// A commit writes most pages of the small table, and a pass most pages of the large one. Say that there are N
    /// entries, that W wait, and that a commit brings C. Then each entry costs about W / 2C + N / W entries' worth of
    /// pages. That is least where W² = 2CN. Where what waits costs no pages, it is N / W alone, and W a part of N.
    ///
    /// - Parameters:
    ///   - last: the last record, of which there are about so many.
    ///   - perRecord: how many entries a record has, about; asked for when enough may wait.
    ///   - count: counts what waits.
    package mutating func isEnough(
        _ last: RecordNumber, perRecord: @autoclosure () -> Int = 1, count: () throws -> Int
    ) rethrows -> Bool {
        let waiting = try self.waiting ?? count()
        self.waiting = waiting
        guard waiting >= waitingMin else { return false }
        let records = max(0, last.value)
        if let share { return waiting >= min(waitingMax, Int(records) / share) }
        let root = Int((2 * Self.commitRecords * Double(records)).squareRoot())
        return waiting >= min(waitingMax, root * max(1, perRecord()))
    }

    /// Whether work is to be queued, which it is not yet; notes that it is.
    ///
    /// Parameters as of `isEnough`.
    package mutating func isDue(
        _ last: RecordNumber, perRecord: @autoclosure () -> Int = 1, count: () throws -> Int
    ) rethrows -> Bool {
        guard !isQueued, try isEnough(last, perRecord: perRecord(), count: count) else {
            return false
        }
        isQueued = true
        addedSinceStep = 0
        return true
    }

    /// How many entries the next step moves; begins to count those that come after it.
    ///
    /// More than have come since the last one, or else a busy store would have more and more waiting.
    ///
    /// - Parameter wanted: how many fit into the time of a step.
    package mutating func takeStep(_ wanted: Int) -> Int {
        let limit = max(1, wanted, 2 * addedSinceStep)
        defer { addedSinceStep = 0 }
        return max(addedSinceStep, min(stepMax, limit))
    }
}
