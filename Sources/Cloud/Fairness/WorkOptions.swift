/// Which threads do a piece of work.
package enum WorkLaneName: Int, CaseIterable, Sendable {
    case short, long, commits
}

/// How many threads a pool has, and what may wait for them.
package struct WorkOptions: Sendable {
    package var shortThreads = 4
    package var longThreads = 4
    package var commitThreads = 4
    /// Pieces of work of one principal that wait in one lane.
    package var waitingPerPrincipalMax = 256
    /// Pieces of work that wait in one lane.
    package var waitingMax = 4_096
    /// What runs longer is long, as a page of 200 records does not; the largest number for no bound.
    package var longNanoseconds: UInt64 = 5_000_000
    /// How far the threads of short work stand behind the event loops when all processors are busy.
    package var shortNiceness: Int32 = 5

    package init() {}
}

/// Why work is not taken on.
package enum WorkRefusal: Error, Sendable, Equatable {
    /// The principal has as much waiting as it may.
    case principalIsFull
    /// All together have as much waiting as they may.
    case poolIsFull
}

/// What a pool has done since it was made.
package struct PoolCounts: Sendable {
    package var waiting = 0
    package var refused = 0
    /// Abandoned before they began.
    package var dropped = 0
    /// Went on as long work.
    package var moved = 0
}
