import Dispatch
import Synchronization

/// The one committer of a database: takes everything that waits, commits once, then answers all.
///
/// Jobs run one after the other on the committer's queue, in one transaction of its engine. A job that throws undoes
/// only itself. If it had written before, the group is undone, and all its jobs run again, each isolated. An error that
/// the engine throws for a group undoes the whole group, and every member gets that error. After a commit whose outcome
/// is not known, every member gets `WriterError.indeterminate` and the committer takes no more work.
package final class GroupCommitter: Sendable {
    private struct Waiting {
        var jobs: [PendingJob] = []
        var admission: WriterAdmission
        var isDraining = false
        var isOpen = true
        /// How many jobs the committer waits for; 0 when it does not.
        var gathered = 0
    }

    private let queue: DispatchQueue
    private let refusals = DispatchQueue(label: "committer.refusals")
    /// Signalled when as many jobs wait as the committer waits for.
    private let gathered = MonotonicSemaphore()
    private let waiting: Mutex<Waiting>
    private let measured = Mutex(GroupMeasurements())
    private let options: GroupOptions
    private let onIndeterminate: @Sendable (any Error) -> Void
    // Touched on the queue only, and in `init` before anybody else can.
    private nonisolated(unsafe) var confined: Confined

    /// What belongs to the queue.
    private struct Confined {
        let engine: any GroupEngine
        let run: GroupRun
        /// Jobs taken over from `waiting` that no group has held yet.
        var backlog = FairBacklog()
        var gathering = GroupGathering()
        var time: GroupTime
        var use = CallerUse()
        /// Those who hold others up wait, while these are about.
        var holdsBack = false
        var isFull = false
        var isClosed = false
        var probeAt: UInt64 = 0

        init(_ engine: any GroupEngine, _ options: GroupOptions) {
            self.engine = engine
            run = GroupRun(engine, now: options.now)
            time = GroupTime(milliseconds: options.millisecondsMax)
        }
    }

    /// - Parameters:
    ///   - engine: used on the committer's queue alone from now on.
    ///   - isFull: whether there is no room to begin with.
    ///   - onIndeterminate: called once on the committer's queue; the process should end and restart.
    package init(
        _ engine: any GroupEngine, options: GroupOptions, isFull: Bool = false,
        onIndeterminate: @escaping @Sendable (any Error) -> Void
    ) {
        self.options = options
        self.onIndeterminate = onIndeterminate
        waiting = Mutex(
            Waiting(
                admission: WriterAdmission(
                    jobsMax: options.waitingJobsMax, bytesMax: options.waitingBytesMax)))
        queue = DispatchQueue(label: "committer")
        confined = Confined(engine, options)
        if isFull { becomeFull() }
    }

    /// Runs `job` in the next group, possibly twice, and `completion` after the group's commit or
    /// failure, both on the committer's queue.
    ///
    /// - Parameters:
    ///   - cost: what the job counts towards `operationsMax`; operations, at least 1.
    ///   - bytes: what it counts towards `bytesMax`.
    ///   - caller: whose job it is. When more waits than a group holds, groups are filled from all
    ///     callers in turn. A caller's own jobs run in the order in which they were handed in.
    ///   - frees: whether the job makes room, so that it runs even while the disk is full. It is run
    ///     again when its first run met the full disk and was undone.
    ///   - needs: what the engine may fetch for the job before it runs, in the engine's own form.
    ///   - completion: gets what `job` returned or threw; or the group's error; or a
    ///     `WriterError`. Success means that the job's changes are on disk.
    package func submit<Value: Sendable>(
        cost: Int = 1, bytes: Int = 0, caller: UInt64 = 0, frees: Bool = false,
        needs: (any Sendable)? = nil,
        _ job: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let pending = PendingJob(
            cost: cost, bytes: bytes, caller: caller, frees: frees, submittedAt: options.now(),
            needs: needs, work: ValueWork(job, completion: completion))
        let (refusal, starts) = waiting.withLock { waiting -> (WriterError?, Bool) in
            guard waiting.isOpen else { return (.closed, false) }
            if let refusal = waiting.admission.admit(pending) { return (refusal, false) }
            waiting.jobs.append(pending)
            if waiting.jobs.count == waiting.gathered {
                waiting.gathered = 0
                gathered.signal()
            }
            defer { waiting.isDraining = true }
            return (nil, !waiting.isDraining)
        }
        if starts { queue.async { self.drain() } }
        // Not behind the jobs that wait: there are too many of them.
        if let refusal { refusals.async { pending.finish(groupError: refusal) } }
    }

    /// Runs `body` between two groups, outside of any transaction.
    package func betweenGroups(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Has those wait who hold others up, as long as somebody is about whom they hold up; then runs `body` between
    /// two groups.
    ///
    /// For what would hold everybody up the longer, the more is written meanwhile. What nobody in particular has asked
    /// for waits as well, once it has used much of the writer.
    package func holdBackHeavy(then body: @escaping @Sendable () -> Void) {
        queue.async {
            self.confined.holdsBack = true
            body()
        }
    }

    /// Lets those go on that were held back.
    package func letHeavyGoOn() {
        queue.async {
            self.confined.holdsBack = false
            guard !self.confined.backlog.isEmpty else { return }
            let starts = self.waiting.withLock { waiting in
                defer { waiting.isDraining = true }
                return !waiting.isDraining
            }
            if starts { self.queue.async { self.drain() } }
        }
    }

    /// Whether somebody holds others up who are about; on the committer's queue only.
    package var sparesOthers: Bool {
        let now = options.now()
        return confined.use.heaviestBound(now: now).map {
            confined.use.hasLight(bound: $0, now: now)
        } ?? false
    }

    /// Runs `body` as `betweenGroups` does, and waits for it; never called on the committer's queue.
    package func waitBetweenGroups<Value>(_ body: () throws -> Value) rethrows -> Value {
        mustNotBeOnQueue()
        return try queue.sync(execute: body)
    }

    /// Stops a caller who would wait for a group on the queue that runs it.
    package func mustNotBeOnQueue() { dispatchPrecondition(condition: .notOnQueue(queue)) }

    /// Takes no more jobs; what waits is still done.
    package func refuseMore() { waiting.withLock { $0.isOpen = false } }

    /// Finishes what waits and closes the engine; later jobs get `WriterError.closed`.
    package func close() {
        mustNotBeOnQueue()
        refuseMore()
        queue.sync {
            guard !confined.isClosed else { return }
            confined.holdsBack = false
            while collect() > 0 { _ = runGroup() }
            assert(
                waiting.withLock { $0.admission.isAtRest },
                "what was taken in has ended before the engine closes: else its callers would wait for ever"
            )
            confined.isClosed = true
            confined.engine.close()
        }
    }

    /// What the committer has done so far and how it stands.
    package var measurements: GroupMeasurements {
        var now = measured.withLock { $0 }
        now.waiting = waiting.withLock { $0.admission.jobs }
        return now
    }

    /// Whether writes are refused because there is no room.
    package var isFull: Bool { measured.withLock { $0.isFull } }

    // MARK: - On the queue

    /// Waits for those who were answered just before, as far as it is worth it.
    private func gather() {
        let before = waiting.withLock { waiting in
            waiting.gathered = 0
            return waiting.jobs.count
        }
        guard confined.backlog.isEmpty, let wait = confined.gathering.wait(waiting: before)
        else { return }
        let waits = waiting.withLock { waiting in
            guard waiting.jobs.count < wait.jobs, waiting.isOpen else { return false }
            waiting.gathered = wait.jobs
            return true
        }
        if waits, !gathered.wait(nanoseconds: wait.nanoseconds) {
            // A signal that came since is taken back, or else it would end the next wait.
            let isLate = waiting.withLock { waiting in
                defer { waiting.gathered = 0 }
                return waiting.gathered == 0
            }
            if isLate { gathered.wait() }
        }
        confined.gathering.waited(from: before, to: waiting.withLock { $0.jobs.count })
    }

    /// Runs one group, and comes back for the next one behind whatever else the queue holds.
    private func drain() {
        gather()
        // Where only those wait who are held back, the next job or their release goes on.
        let isAtRest = collect() == 0 || !runGroup()
        let goesOn = waiting.withLock { waiting in
            waiting.isDraining =
                !waiting.jobs.isEmpty || !isAtRest && !confined.backlog.isEmpty
            return waiting.isDraining
        }
        if goesOn { queue.async { self.drain() } }
    }

    /// Takes over what waits and says how many jobs the next group can choose from.
    private func collect() -> Int {
        waiting.withLock { confined.backlog.add(&$0.jobs) }
        return confined.backlog.count
    }

    /// - Returns: false where all that waits is held back.
    private func runGroup() -> Bool {
        let group = takeGroup(now: options.now())
        guard !group.isEmpty else { return false }
        guard !confined.isClosed, !measured.withLock({ $0.isFailed }) else {
            finish(group, with: WriterError.closed)
            return true
        }
        if confined.isFull, !hasRoomAgain() {
            let refused = group.filter { !$0.frees }
            finish(refused[...], with: confined.engine.refusalWhileFull)
            measured.withLock { $0.refusedWhileFull &+= UInt64(refused.count) }
            let freeing = group.filter(\.frees)
            if !freeing.isEmpty { run(freeing[...]) }
        } else {
            run(group)
        }
        return true
    }

    private func run(_ taken: ArraySlice<PendingJob>) {
        let start = options.now()
        let outcome = confined.run.run(taken, while: goingOn(taken, now: start))
        // Those that there was no time for are the first of the next group.
        let group = taken.prefix(confined.run.jobsRun)
        confined.backlog.putBack(taken.dropFirst(confined.run.jobsRun))
        let end = options.now()
        for (job, took) in zip(group, confined.run.jobNanoseconds) {
            confined.use.note(job.caller, nanoseconds: took, now: end)
        }
        switch outcome {
        case .committed:
            noteCommit(of: group, from: start, to: end)
            finish(group, with: nil)
            if confined.isFull { confined.engine.makeRoom() } else { confined.engine.told() }
        case .rolledBack(let error):
            measured.withLock { $0.groupRollbacks &+= 1 }
            guard confined.engine.saysFull(error) else { return finish(group, with: error) }
            let freeing = confined.isFull ? [] : group.filter(\.frees)
            becomeFull()
            finish(group.filter { freeing.isEmpty || !$0.frees }[...], with: error)
            // What was let go has just made room for these.
            if !freeing.isEmpty { run(freeing[...]) }
        case .unknown(let error):
            measured.withLock { $0.groupRollbacks &+= 1 }
            finish(group, with: error)
        case .indeterminate(let error):
            waiting.withLock { $0.isOpen = false }
            measured.withLock { $0.isFailed = true }
            confined.engine.failed()
            finish(group, with: WriterError.indeterminate)
            onIndeterminate(error)
        }
    }

    private func noteCommit(of group: ArraySlice<PendingJob>, from start: UInt64, to end: UInt64) {
        let run = confined.run
        confined.gathering.committed(
            jobs: group.count, waiting: waiting.withLock { $0.jobs.count },
            nanoseconds: run.commitNanoseconds)
        confined.time.committed(nanoseconds: run.commitNanoseconds)
        measured.withLock { measured in
            measured.commits &+= 1
            measured.jobs &+= UInt64(group.count)
            measured.jobRollbacks &+= UInt64(run.jobRollbacks)
            measured.commitJobs.record(Double(group.count))
            measured.commitSeconds.record(Double(run.commitNanoseconds) / 1e9)
            measured.groupSeconds.record(Double(end &- start) / 1e9)
            let lag = group.map { end &- $0.submittedAt }.max() ?? 0
            measured.feedLagSeconds.record(Double(lag) / 1e9)
        }
    }

    /// Takes the next group: without those who hold others up, where both wait.
    ///
    /// - Returns: nothing where all that waits is held back.
    private func takeGroup(now: UInt64) -> ArraySlice<PendingJob> {
        let bounds = FairBacklog.Bounds(cost: options.operationsMax, bytes: options.bytesMax)
        let all = confined.backlog.takeGroup(bounds)[...]
        let use = confined.use
        guard let bound = use.lightBound(beside: all.lazy.map(\.caller), now: now) else {
            return all
        }
        func isLight(_ caller: UInt64) -> Bool { use.isLight(caller, bound: bound, now: now) }
        let light = all.filter { isLight($0.caller) }
        if !light.isEmpty {
            confined.backlog.putBack(all.filter { !isLight($0.caller) }[...])
            return light[...]
        }
        // One large job may have left no room for theirs.
        if confined.backlog.holdsAny(of: isLight) {
            confined.backlog.putBack(all)
            return confined.backlog.takeGroup(bounds, of: isLight)[...]
        }
        guard confined.holdsBack, !confined.isClosed, use.hasLight(bound: bound, now: now) else {
            return all
        }
        confined.backlog.putBack(all)
        return []
    }

    /// How long a group goes on: until its time is up, or somebody waits whom its callers hold up.
    private func goingOn(
        _ group: ArraySlice<PendingJob>, now: UInt64
    ) -> (_ nanoseconds: UInt64) -> Bool {
        let use = confined.use
        guard let bound = use.lightBound(beside: group.lazy.map(\.caller), now: now) else {
            let nanosecondsMax = confined.time.nanoseconds
            return { $0 <= nanosecondsMax }
        }
        let nanosecondsMax =
            use.hasLight(bound: bound, now: now)
            ? confined.time.nanosecondsBesideOthers : confined.time.nanoseconds
        var seen = 0
        return { nanoseconds in
            guard nanoseconds <= nanosecondsMax else { return false }
            guard nanoseconds > Self.sharedNanosecondsMin else { return true }
            return self.waiting.withLock { waiting in
                defer { seen = waiting.jobs.count }
                return !waiting.jobs.dropFirst(seen).contains {
                    use.isLight($0.caller, bound: bound, now: now)
                }
            }
        }
    }

    /// A group that has gone on for less ends for nobody: its commit would take longer than the rest of it.
    private static let sharedNanosecondsMin: UInt64 = 2_000_000

    private func finish(_ group: ArraySlice<PendingJob>, with error: (any Error)?) {
        waiting.withLock { $0.admission.finished(group) }
        for job in group { job.finish(groupError: error) }
    }

    // MARK: - When there is no room

    /// Takes note that there is no room, found beside the groups.
    package func noteFull() {
        queue.async { if !self.confined.isFull { self.becomeFull() } }
    }

    private func becomeFull() {
        confined.engine.becameFull()
        confined.isFull = true
        confined.probeAt = options.now() &+ UInt64(options.fullProbeSeconds * 1e9)
        measured.withLock { $0.isFull = true }
        confined.engine.makeRoom()
    }

    /// Whether a group may be tried again: the probe's time has come and there is room.
    private func hasRoomAgain() -> Bool {
        let now = options.now()
        guard now >= confined.probeAt else { return false }
        guard confined.engine.hasRoomAgain() else {
            confined.probeAt = now &+ UInt64(options.fullProbeSeconds * 1e9)
            return false
        }
        confined.isFull = false
        measured.withLock { $0.isFull = false }
        return true
    }
}
