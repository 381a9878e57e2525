import CSQLite
import Dispatch
import Synchronization

/// The one writer of a database file: takes everything that waits, commits once, then answers all.
///
/// Jobs run one after the other on the writer's queue, in one transaction. A job that throws undoes
/// only itself. If it had written before, the group is undone, and all its jobs run again, each in
/// a savepoint. FULL, IOERR and NOMEM inside a group undo the whole group, and every member gets
/// that error. An error from COMMIT other than FULL is indeterminate: every member gets
/// `WriterError.indeterminate` and the writer takes no more work.
package final class GroupWriter: Sendable {
    private struct Waiting {
        var jobs: [PendingJob] = []
        var admission: WriterAdmission
        var isDraining = false
        var isOpen = true
        /// How many jobs the writer waits for; 0 when it does not.
        var gathered = 0
    }

    package let path: String
    private let queue: DispatchQueue
    private let refusals = DispatchQueue(label: "writer.refusals")
    /// Signalled when as many jobs wait as the writer waits for.
    private let gathered = MonotonicSemaphore()
    private let waiting: Mutex<Waiting>
    private let measured = Mutex(WriterMeasurements())
    private let options: WriterOptions
    private let checkpointer: Checkpointer?
    private let onIndeterminate: @Sendable (SQLiteError) -> Void
    // Touched on the queue only, and in `init` before anybody else can.
    private nonisolated(unsafe) var confined: Confined

    /// What belongs to the queue.
    private struct Confined {
        var committer: GroupCommitter?
        var reserve: DiskReserve?
        /// Jobs taken over from `waiting` that no group has held yet.
        var backlog = FairBacklog()
        var gathering = GroupGathering()
        var time: GroupTime
        var use = CallerUse()
        var isFull = false
        var probeAt: UInt64 = 0
    }

    /// Opens the database and makes the hooks, which may migrate it and load their state.
    ///
    /// - Parameters:
    ///   - makeHooks: called once with the writing connection, before any job.
    ///   - onIndeterminate: called once on the writer's queue; the process should end and restart.
    /// - Throws: `SQLiteError` when the file cannot be opened, and whatever `makeHooks` throws.
    package init(
        path: String, options: WriterOptions = WriterOptions(),
        makeHooks: (Connection) throws -> (any GroupHooks)? = { _ in nil },
        onIndeterminate: @escaping @Sendable (SQLiteError) -> Void
    ) throws {
        let connection = try Connection(
            path: path, mode: .readWrite, cacheKiB: options.cacheKiB,
            fileSystem: options.fileSystem)
        if let pages = options.pageCountMax {
            try connection.execute("PRAGMA max_page_count = \(pages)")
        }
        let hooks = try makeHooks(connection)
        self.path = path
        self.options = options
        self.onIndeterminate = onIndeterminate
        waiting = Mutex(
            Waiting(
                admission: WriterAdmission(
                    jobsMax: options.waitingJobsMax, bytesMax: options.waitingBytesMax)))
        queue = DispatchQueue(label: "sqlite.writer")
        confined = Confined(
            committer: try GroupCommitter(connection: connection, hooks: hooks, now: options.now),
            reserve: options.reserve.map(DiskReserve.init),
            time: GroupTime(milliseconds: options.groupMillisecondsMax))
        checkpointer = options.checkpoints.map {
            Checkpointer(
                path: path, fileSystem: options.fileSystem,
                options: $0.fitting(reserveBytes: options.reserve?.bytes ?? .max),
                snapshots: options.snapshots, now: options.now)
        }
        if let reserve = confined.reserve, !reserve.hold() { becomeFull() }
    }

    /// Runs `job` in the next group, possibly twice, and `completion` after the group's COMMIT or
    /// failure, both on the writer's queue.
    ///
    /// - Parameters:
    ///   - cost: what the job counts towards `groupOperationsMax`; operations, at least 1.
    ///   - bytes: what it counts towards `groupBytesMax`.
    ///   - caller: whose job it is. When more waits than a group holds, groups are filled from all
    ///     callers in turn. A caller's own jobs run in the order in which they were handed in.
    ///   - frees: whether the job makes room, so that it runs even while the disk is full. It is run
    ///     again when its first run met the full disk and was undone.
    ///   - completion: gets what `job` returned or threw; or the group's `SQLiteError`; or a
    ///     `WriterError`. Success means that the job's changes are on disk.
    package func submit<Value: Sendable>(
        cost: Int = 1, bytes: Int = 0, caller: UInt64 = 0, frees: Bool = false,
        _ job: @escaping @Sendable (Connection) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let pending = TypedJob(
            cost: cost, bytes: bytes, caller: caller, frees: frees, submittedAt: options.now(),
            job: job, completion: completion)
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

    /// Runs `job` as `submit` does and waits for the commit; never call it on the writer's queue.
    ///
    /// - Throws: as `submit` hands to its completion.
    package func write<Value: Sendable>(
        cost: Int = 1, frees: Bool = false,
        _ job: @escaping @Sendable (Connection) throws -> Value
    ) throws -> Value {
        dispatchPrecondition(condition: .notOnQueue(queue))
        let done = DispatchSemaphore(value: 0)
        let outcome = Mutex<Result<Value, any Error>>(.failure(WriterError.closed))
        return try withExtendedLifetime(outcome) {
            submit(cost: cost, frees: frees, job) { result in
                outcome.withLock { $0 = result }
                done.signal()
            }
            done.wait()
            return try outcome.withLock { $0 }.get()
        }
    }

    /// Runs `body` between two groups, outside of any transaction, with the writing connection.
    ///
    /// Gives nil when the writer is closed. For what must not meet a write, such as restarting the
    /// log.
    package func betweenGroups(_ body: @escaping @Sendable (Connection?) -> Void) {
        queue.async { body(self.confined.committer?.connection) }
    }

    /// Moves all of the log into the file and truncates it, unless readers are in the way.
    ///
    /// Most of it is moved beside the writer; the rest holds it up for as long as the disk takes. Never called on
    /// the writer's queue.
    ///
    /// - Returns: whether nothing is left in the log.
    /// - Throws: `WriterError.closed`, `SQLiteError`.
    package func emptyLog() throws -> Bool {
        try checkpointer?.moveNow()
        return try queue.sync {
            guard let connection = confined.committer?.connection else {
                throw WriterError.closed
            }
            return checkpointer?.empty(connection) ?? connection.emptyLog(now: options.now)
        }
    }

    /// Finishes what waits, checkpoints and closes; later jobs get `WriterError.closed`.
    package func close() {
        dispatchPrecondition(condition: .notOnQueue(queue))
        waiting.withLock { $0.isOpen = false }
        checkpointer?.close()
        queue.sync {
            while collect() > 0 { runGroup() }
            let isFailed = measured.withLock { $0.isFailed }
            if !isFailed, let connection = confined.committer?.connection {
                connection.resetStatements()
                connection.truncateLog()
            }
            confined.committer = nil
        }
    }

    /// What the writer has done so far and how it stands.
    package var measurements: WriterMeasurements {
        var now = measured.withLock { $0 }
        if let checkpointer { now.checkpoints = checkpointer.measurements }
        now.waiting = waiting.withLock { $0.admission.jobs }
        return now
    }

    /// Whether writes are refused because the disk is full.
    package var isDiskFull: Bool { measured.withLock { $0.isDiskFull } }

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
        if collect() > 0 { runGroup() }
        let goesOn = waiting.withLock { waiting in
            waiting.isDraining = !waiting.jobs.isEmpty || !confined.backlog.isEmpty
            return waiting.isDraining
        }
        if goesOn { queue.async { self.drain() } }
    }

    /// Takes over what waits and says how many jobs the next group can choose from.
    private func collect() -> Int {
        waiting.withLock { confined.backlog.add(&$0.jobs) }
        return confined.backlog.count
    }

    private func runGroup() {
        let bounds = FairBacklog.Bounds(
            cost: options.groupOperationsMax, bytes: options.groupBytesMax)
        let group = confined.backlog.takeGroup(bounds)[...]
        guard let committer = confined.committer, !measured.withLock({ $0.isFailed }) else {
            return finish(group, with: WriterError.closed)
        }
        if confined.isFull, !hasRoomAgain() {
            let refused = group.filter { !$0.frees }
            finish(refused[...], with: SQLiteError.diskFull)
            measured.withLock { $0.refusedWhileFull &+= UInt64(refused.count) }
            let freeing = group.filter(\.frees)
            if !freeing.isEmpty { run(freeing[...], committer) }
        } else {
            run(group, committer)
        }
    }

    private func run(_ all: ArraySlice<PendingJob>, _ committer: GroupCommitter) {
        let start = options.now()
        let taken = withoutHeavy(all, now: start)
        let outcome = committer.run(taken, while: goingOn(taken, now: start))
        // Those that there was no time for are the first of the next group.
        let group = taken.prefix(committer.jobsRun)
        confined.backlog.putBack(taken.dropFirst(committer.jobsRun))
        let end = options.now()
        let nanoseconds = end &- start
        for (job, took) in zip(group, committer.jobNanoseconds) {
            confined.use.note(job.caller, nanoseconds: took, now: end)
        }
        switch outcome {
        case .committed:
            let logPages = committer.connection.logPages
            confined.gathering.committed(
                jobs: group.count, waiting: waiting.withLock { $0.jobs.count },
                nanoseconds: committer.commitNanoseconds)
            confined.time.committed(nanoseconds: committer.commitNanoseconds)
            measured.withLock { measured in
                measured.commits &+= 1
                measured.jobs &+= UInt64(group.count)
                measured.jobRollbacks &+= UInt64(committer.jobRollbacks)
                measured.commitJobs.record(Double(group.count))
                measured.commitSeconds.record(Double(committer.commitNanoseconds) / 1e9)
                measured.groupSeconds.record(Double(nanoseconds) / 1e9)
                let lag = group.map { end &- $0.submittedAt }.max() ?? 0
                measured.feedLagSeconds.record(Double(lag) / 1e9)
                measured.logPages = logPages
            }
            finish(group, with: nil)
            if confined.isFull {
                makeRoom()
            } else {
                checkpointer?.committed(logPages: logPages, self, committer.connection)
            }
        case .rolledBack(let error):
            measured.withLock { $0.groupRollbacks &+= 1 }
            guard (error as? SQLiteError)?.kind == .full else { return finish(group, with: error) }
            let freeing = confined.isFull ? [] : group.filter(\.frees)
            becomeFull()
            finish(group.filter { freeing.isEmpty || !$0.frees }[...], with: error)
            // The reserve has just made room for these.
            if !freeing.isEmpty { run(freeing[...], committer) }
        case .indeterminate(let error):
            waiting.withLock { $0.isOpen = false }
            measured.withLock { $0.isFailed = true }
            // Recovery has to judge the log as it lies: closing must not checkpoint it.
            committer.connection.leaveLogOnClose()
            checkpointer?.stop()
            finish(group, with: WriterError.indeterminate)
            onIndeterminate(error)
        }
    }

    /// Leaves those who hold others up for the next group, where both are in this one.
    private func withoutHeavy(
        _ all: ArraySlice<PendingJob>, now: UInt64
    ) -> ArraySlice<PendingJob> {
        let use = confined.use
        guard let bound = use.lightBound(beside: all.lazy.map(\.caller), now: now) else {
            return all
        }
        let light = all.filter { use.isLight($0.caller, bound: bound, now: now) }
        guard !light.isEmpty, light.count < all.count else { return all }
        confined.backlog.putBack(
            all.filter { !use.isLight($0.caller, bound: bound, now: now) }[...])
        return light[...]
    }

    /// How long a group goes on: until its time is up, or somebody waits whom its callers hold up.
    private func goingOn(
        _ group: ArraySlice<PendingJob>, now: UInt64
    ) -> (_ nanoseconds: UInt64) -> Bool {
        let nanosecondsMax = confined.time.nanoseconds
        let use = confined.use
        guard let bound = use.lightBound(beside: group.lazy.map(\.caller), now: now) else {
            return { $0 <= nanosecondsMax }
        }
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

    // MARK: - When the disk is full

    /// Lets the reserve go, since what is committed already cannot be moved into the file.
    func checkpointMetFullDisk() {
        queue.async { if !self.confined.isFull { self.becomeFull() } }
    }

    private func becomeFull() {
        confined.reserve?.release()
        confined.isFull = true
        confined.probeAt = options.now() &+ UInt64(options.fullProbeSeconds * 1e9)
        measured.withLock { $0.isDiskFull = true }
        makeRoom()
    }

    /// Gives the log's space to the file, as far as the reserve's room lets it grow.
    private func makeRoom() {
        guard let connection = confined.committer?.connection else { return }
        checkpointer?.makeRoom(connection, roomBytes: options.reserve?.bytes ?? .max)
    }

    /// Whether a group may be tried again: the probe's time has come and the reserve fits.
    private func hasRoomAgain() -> Bool {
        let now = options.now()
        guard now >= confined.probeAt else { return false }
        guard holdsReserve() || giveBackFreePages() else {
            confined.probeAt = now &+ UInt64(options.fullProbeSeconds * 1e9)
            return false
        }
        confined.isFull = false
        measured.withLock { $0.isDiskFull = false }
        return true
    }

    private func holdsReserve() -> Bool { confined.reserve?.hold() ?? true }

    /// Whether the reserve fits once the file has given back what deletes have freed.
    private func giveBackFreePages() -> Bool {
        guard let connection = confined.committer?.connection else { return false }
        let space = FreedSpace(connection, now: options.now)
        return space.giveBack(until: holdsReserve)
    }
}
