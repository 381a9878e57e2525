/// What waits for the writer, and which of it the next group holds.
///
/// While all that waits fits into one group, jobs are taken in the order in which they came.
/// Otherwise callers take turns. In each round, every caller may use the same part of the writer,
/// however many jobs they have waiting; what counts is the cost and the bytes of the jobs. One
/// caller's jobs keep their order. A job that does not fit into the rest of a group is the first of
/// the next group. Confined to the committer's queue.
struct FairBacklog {
    /// What one group may hold; a job that is larger goes alone.
    struct Bounds {
        let cost: Int
        let bytes: Int
    }

    /// What a caller may use in one round, in bytes.
    private static let share = 65_536
    /// What the store's own work may: it waits rather than others.
    private static let backgroundShare = 16_384
    /// What one operation weighs, beside its bytes.
    private static let operationWeight = 1_024

    private struct Caller {
        var jobs: [PendingJob] = []
        /// How many of `jobs` have been taken.
        var first = 0
        /// What it may still use in its turn.
        var credit = 0

        var next: PendingJob? { first < jobs.count ? jobs[first] : nil }
    }

    /// In order of arrival, while they are so few that nobody has to wait for another group.
    private var arrived: [PendingJob] = []
    /// Of `arrived`.
    private var load = (cost: 0, bytes: 0)
    private var callers: [UInt64: Caller] = [:]
    /// Whose jobs are in `callers`, the next turn first.
    private var ring: [UInt64] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Takes jobs over, and leaves the array empty.
    mutating func add(_ jobs: inout [PendingJob]) {
        count += jobs.count
        for job in jobs {
            load.cost += max(1, job.cost)
            load.bytes += job.bytes
        }
        if arrived.isEmpty {
            swap(&arrived, &jobs)
        } else {
            arrived.append(contentsOf: jobs)
        }
        jobs.removeAll(keepingCapacity: true)
    }

    /// Puts jobs back that a group had no time for; they were its last.
    mutating func putBack(_ jobs: ArraySlice<PendingJob>) {
        for job in jobs.reversed() {
            count += 1
            let isNew = callers[job.caller]?.next == nil
            var caller = callers.removeValue(forKey: job.caller) ?? Caller()
            if caller.first > 0 {
                caller.first -= 1
                caller.jobs[caller.first] = job
            } else {
                caller.jobs.insert(job, at: 0)
            }
            // It has paid for the job already.
            caller.credit += Self.weight(job)
            callers[job.caller] = caller
            if isNew { ring.insert(job.caller, at: 0) }
        }
    }

    /// Whether a job of such a caller waits.
    func holdsAny(of isWanted: (UInt64) -> Bool) -> Bool {
        ring.contains(where: isWanted) || arrived.contains { isWanted($0.caller) }
    }

    /// The jobs of the next group, in the order in which they run; at least one if there is any.
    ///
    /// - Parameter isWanted: whose jobs it may hold; nil for everybody's.
    mutating func takeGroup(
        _ bounds: Bounds, of isWanted: ((UInt64) -> Bool)? = nil
    ) -> [PendingJob] {
        if isWanted == nil, ring.isEmpty, load.cost <= bounds.cost, load.bytes <= bounds.bytes {
            defer {
                count = 0
                load = (0, 0)
                arrived = []
            }
            return Self.inTurns(arrived)
        }
        sortIn()
        var others: [UInt64] = []
        if let isWanted {
            others = ring.filter { !isWanted($0) }
            ring.removeAll { !isWanted($0) }
        }
        var group: [PendingJob] = []
        var left = (cost: bounds.cost, bytes: bounds.bytes)
        // Those whose next job did not fit, who come first in the next group.
        var held: [UInt64] = []
        var turn = 0
        var end = Int.max
        while turn < min(end, ring.count), left.cost > 0, left.bytes > 0 || group.isEmpty {
            let key = ring[turn]
            turn += 1
            switch takeTurn(of: key, &group, &left) {
            case .hasNoMore: break
            case .hasMore: ring.append(key)
            case .doesNotFit:
                held.append(key)
                // The round goes to its end; in a further one the others would get ahead.
                end = min(end, ring.count)
            }
        }
        ring = held + ring[turn...] + others
        count -= group.count
        assert(
            !group.isEmpty || count == 0 || isWanted != nil,
            "while jobs wait, a group has one of them")
        assert(count > 0 || ring.isEmpty, "a caller with a turn has a job")
        return Self.inTurns(group)
    }

    /// What weighs more is taken to need some milliseconds.
    private static let heavy = 16_384

    /// When some jobs are heavy: the first job of each caller, then the second of each, and so on.
    ///
    /// So a group that has no time for all jobs has done one for everybody.
    private static func inTurns(_ group: [PendingJob]) -> [PendingJob] {
        guard group.contains(where: { weight($0) > heavy }),
            group.contains(where: { $0.caller != group[0].caller })
        else { return group }
        var turns: [UInt64: Int] = [:]
        let ordered = group.enumerated().map { order, job in
            defer { turns[job.caller, default: 0] += 1 }
            return (turn: turns[job.caller, default: 0], order: order, job: job)
        }
        return ordered.sorted { ($0.turn, $0.order) < ($1.turn, $1.order) }.map(\.job)
    }

    /// Gives each job that has arrived to its caller.
    private mutating func sortIn() {
        for job in arrived {
            if callers[job.caller] == nil {
                callers[job.caller] = Caller()
                ring.append(job.caller)
            }
            callers[job.caller]?.jobs.append(job)
        }
        arrived.removeAll(keepingCapacity: true)
        load = (0, 0)
    }

    private enum Turn { case hasNoMore, hasMore, doesNotFit }

    private mutating func takeTurn(
        of key: UInt64, _ group: inout [PendingJob], _ left: inout (cost: Int, bytes: Int)
    ) -> Turn {
        guard var caller = callers.removeValue(forKey: key) else { return .hasNoMore }
        caller.credit += key == PendingJob.background ? Self.backgroundShare : Self.share
        while let job = caller.next, Self.weight(job) <= caller.credit {
            let cost = max(1, job.cost)
            guard group.isEmpty || (cost <= left.cost && job.bytes <= left.bytes) else {
                callers[key] = caller
                return .doesNotFit
            }
            group.append(job)
            left.cost -= cost
            left.bytes -= job.bytes
            caller.credit -= Self.weight(job)
            caller.first += 1
        }
        // Credit is for those who wait: nobody saves it up.
        guard caller.next != nil else { return .hasNoMore }
        if caller.first > 64, caller.first * 2 > caller.jobs.count {
            caller.jobs.removeFirst(caller.first)
            caller.first = 0
        }
        callers[key] = caller
        return .hasMore
    }

    private static func weight(_ job: PendingJob) -> Int {
        max(1, job.cost) * operationWeight + job.bytes
    }
}
