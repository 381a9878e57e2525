/// Runs one group of jobs as one transaction.
///
/// Confined to the committer's queue.
final class GroupRun {
    private let engine: any GroupEngine
    private let now: @Sendable () -> UInt64
    private(set) var commitNanoseconds: UInt64 = 0
    private(set) var jobRollbacks = 0
    /// How many jobs of the last group were run; the others have not been touched.
    private(set) var jobsRun = 0
    /// How long each of them took.
    private(set) var jobNanoseconds: [UInt64] = []

    init(_ engine: any GroupEngine, now: @escaping @Sendable () -> UInt64) {
        self.engine = engine
        self.now = now
    }

    /// Runs the group, at first without isolating its jobs.
    ///
    /// To isolate a job costs: SQLite, for one, keeps a copy of every page that an isolated job is the first to
    /// change. But a job hardly ever fails once it has written. When one does, everything is undone and run again,
    /// each job isolated.
    ///
    /// - Parameter goesOn: whether another job is begun, so long after the group began.
    func run(_ group: ArraySlice<PendingJob>, while goesOn: (UInt64) -> Bool) -> GroupEnd {
        let end = run(group, goesOn, isIsolated: false)
        guard case .rolledBack(let error) = end, error is JobNeedsIsolation else { return end }
        return run(group, goesOn, isIsolated: true)
    }

    private func run(
        _ group: ArraySlice<PendingJob>, _ goesOn: (UInt64) -> Bool, isIsolated: Bool
    ) -> GroupEnd {
        jobRollbacks = 0
        commitNanoseconds = 0
        jobNanoseconds.removeAll(keepingCapacity: true)
        // What fails as a whole fails for all of it.
        jobsRun = group.count
        let begun: UInt64
        do {
            engine.foresee(group)
            try engine.begin()
            begun = now()
        } catch {
            return engine.rollBack(error)
        }
        do {
            var moment = begun
            for job in group {
                if !jobNanoseconds.isEmpty, !goesOn(moment &- begun) { break }
                switch try engine.run(job, isIsolated: isIsolated) {
                case .done: break
                case .undone: jobRollbacks += 1
                case .needsIsolation: throw JobNeedsIsolation()
                }
                let end = now()
                jobNanoseconds.append(end &- moment)
                moment = end
            }
            jobsRun = jobNanoseconds.count
            try engine.prepare()
        } catch { return engine.rollBack(error) }
        let start = now()
        defer { commitNanoseconds = now() &- start }
        return engine.commit()
    }
}

/// Thrown when a job has failed that has changed something already, and nothing undoes it alone.
private struct JobNeedsIsolation: Error {}
