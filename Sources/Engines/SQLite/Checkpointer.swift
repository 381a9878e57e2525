import CSQLite
import Dispatch
import Synchronization

/// Moves the write-ahead log into the database file beside the writer, and starts the log over.
///
/// Passive checkpoints run on a queue and a connection of their own, and stop nobody. When they
/// have moved nearly all of a long log, the rest is moved between two groups, where the log can be
/// started over. This holds the writer up while the rest is moved and while it waits for readers. A
/// writer that gets too far ahead waits too. Otherwise, if the disk became full, it might have no
/// room for what the log holds.
///
/// Callers who hold others up wait from before the last round to the end of it, so that the rest is
/// what the others have written. For readers, too, these callers wait, and hardly the others.
final class Checkpointer: Sendable {
    private struct State {
        var isRunning = false
        /// The log's pages that are in the file.
        var movedPages = 0
        /// The log's length at which starting it over is tried next.
        var restartAt: Int
        var measured = CheckpointMeasurements()
    }

    private let path: String
    private let fileSystem: String?
    private let options: CheckpointOptions
    private let snapshots: OpenSnapshots?
    private let now: @Sendable () -> UInt64
    private let queue = DispatchQueue(label: "sqlite.checkpointer")
    private let state: Mutex<State>
    // Both are touched on the queue only. Most stores never have a log that is worth a connection.
    private nonisolated(unsafe) var opened: Connection?
    private nonisolated(unsafe) var isStopped = false

    init(
        path: String, fileSystem: String?, options: CheckpointOptions, snapshots: OpenSnapshots?,
        now: @escaping @Sendable () -> UInt64
    ) {
        self.path = path
        self.fileSystem = fileSystem
        self.options = options
        self.snapshots = snapshots
        self.now = now
        state = Mutex(State(restartAt: options.restartPages))
    }

    /// On the queue.
    private func connection() throws -> Connection {
        if let opened { return opened }
        let made = try Connection(
            path: path, mode: .readWrite, cacheKiB: 256, fileSystem: fileSystem)
        made.leaveLogOnClose()
        opened = made
        return made
    }

    var measurements: CheckpointMeasurements { state.withLock { $0.measured } }

    /// Takes note of the log's length after a commit, and starts a checkpoint when it is time.
    ///
    /// Called on the writer's queue. It returns at once, unless more than `logPagesMax` pages of
    /// the log are not in the file yet. Then it returns when they have been moved, or when readers
    /// are in the way.
    func committed(logPages: Int, _ writer: GroupWriter, _ writing: Connection) {
        let (starts, isBehind) = state.withLock { state in
            // The log was started over, by the commit itself when all of it had been moved.
            if logPages < state.movedPages { state.movedPages = 0 }
            let unmovedPages = logPages - state.movedPages
            // Where some callers hold up others, these need not wait with them.
            let isBehind =
                unmovedPages >= options.logPagesMax && logPages >= state.restartAt
                && !writer.sparesOthers
            guard !state.isRunning, unmovedPages >= options.checkpointPages, !isBehind else {
                return (false, isBehind)
            }
            state.isRunning = true
            return (true, false)
        }
        if starts { queue.async { [weak writer] in self.run(writer) } }
        if isBehind {
            // On its own queue, so that no passive checkpoint is going on.
            queue.sync {
                guard !isStopped else { return }
                restart(writing, SQLITE_CHECKPOINT_RESTART, logPages, writer)
            }
        }
    }

    /// Moves what there is and truncates the log, if the file's growth fits into the room there is.
    ///
    /// Called on the writer's queue; returns when it is done.
    func makeRoom(_ writing: Connection, roomBytes: Int) {
        // On its own queue, so that no passive checkpoint is going on.
        queue.sync {
            guard !isStopped, writing.growthAtCheckpoint() < roomBytes else { return }
            restart(writing, SQLITE_CHECKPOINT_TRUNCATE, options.logPagesMax, nil)
        }
    }

    /// Moves what there is, beside the writer; returns when it is done.
    func moveNow() throws {
        try queue.sync {
            guard !isStopped else { return }
            _ = try connection().checkpoint(SQLITE_CHECKPOINT_PASSIVE)
        }
    }

    /// Moves the rest and truncates the log.
    ///
    /// Called on the writer's queue.
    ///
    /// - Returns: whether nothing is left in the log.
    func empty(_ writing: Connection) -> Bool {
        // On its own queue, so that no passive checkpoint is going on.
        queue.sync {
            guard !isStopped, writing.emptyLog(now: now) else { return false }
            state.withLock { $0.movedPages = 0 }
            return true
        }
    }

    /// Ends after the checkpoint that is going on, if any.
    func stop() {
        state.withLock { $0.isRunning = true }
        queue.async {
            self.isStopped = true
            self.opened = nil
        }
    }

    /// Ends, and returns when no checkpoint goes on.
    func close() {
        stop()
        queue.sync {}
    }

    private func run(_ writer: GroupWriter?) {
        guard !isStopped, let writer else { return }
        // NB: without descriptors or memory the log stays as it is; the next commit tries again.
        guard let connection = try? connection() else {
            state.withLock { $0.measured.failures &+= 1 }
            return finished()
        }
        let outcome = move(connection, writer)
        guard !outcome.isFailure, outcome.logPages >= state.withLock({ $0.restartAt }) else {
            return finished()
        }
        writer.holdBackHeavy { [weak writer] in
            self.queue.async { [writer] in
                if let writer { self.moveRest(writer) } else { self.finished() }
            }
        }
    }

    /// Moves what came during the first round, so that little is left to wait for, and has the log started over.
    private func moveRest(_ writer: GroupWriter) {
        // NB: as above.
        guard !isStopped, let connection = try? connection() else { return finished(writer) }
        let outcome = move(connection, writer)
        guard !outcome.isFailure else { return finished(writer) }
        let plan = RestartPlan(
            logPages: outcome.logPages, options, endsReaders: snapshots != nil)
        tryRestart(
            writer, logPages: outcome.logPages,
            until: now() &+ UInt64(plan.waitSeconds * 1e9))
    }

    /// Moves what there is beside the writer.
    private func move(_ connection: Connection, _ writer: GroupWriter) -> CheckpointOutcome {
        let start = now()
        let outcome = connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
        let seconds = Double(now() &- start) / 1e9
        state.withLock { state in
            state.movedPages = outcome.movedPages
            state.measured.seconds.record(seconds)
            if outcome.isFailure { state.measured.failures &+= 1 }
        }
        if outcome.code & 0xff == SQLITE_FULL { writer.checkpointMetFullDisk() }
        if !outcome.isFailure { options.didMove() }
        return outcome
    }

    /// Starts the log over between two groups.
    ///
    /// Where some callers hold up others, it is these that readers are waited for, until then: nobody has the writer
    /// meanwhile.
    private func tryRestart(_ writer: GroupWriter, logPages: Int, until end: UInt64) {
        writer.betweenGroups { [weak writer] connection in
            guard let writer, let connection else { return self.finished() }
            let spares = writer.sparesOthers
            let isDone = self.restart(
                connection, SQLITE_CHECKPOINT_RESTART, logPages, writer,
                waitSecondsMax: spares ? Self.sparingWaitSeconds : .infinity,
                isLast: !spares || self.now() >= end)
            guard !isDone else { return self.finished(writer) }
            self.queue.asyncAfter(deadline: .now() + .milliseconds(Self.readerMilliseconds)) {
                guard !self.isStopped else { return self.finished(writer) }
                self.tryRestart(writer, logPages: logPages, until: end)
            }
        }
    }

    /// How long it takes until it is looked again whether the readers have gone.
    private static let readerMilliseconds = 5
    /// The longest that those wait for readers at a time who are to be spared.
    private static let sparingWaitSeconds = 0.002

    /// Moves the rest and starts the log over.
    ///
    /// Called between two groups.
    ///
    /// - Parameters:
    ///   - mode: RESTART as a rule: a log that need not grow is synced much faster. TRUNCATE gives its
    ///     space back to the disk.
    ///   - writer: learns that the disk is full; nil when that is known.
    ///   - waitSecondsMax: for readers, at a time.
    ///   - isLast: whether it is put off for good where readers are in the way.
    /// - Returns: false where it is to be tried again.
    @discardableResult
    private func restart(
        _ connection: Connection, _ mode: Int32, _ logPages: Int, _ writer: GroupWriter?,
        waitSecondsMax: Double = .infinity, isLast: Bool = true
    ) -> Bool {
        let start = now()
        let plan = RestartPlan(logPages: logPages, options, endsReaders: snapshots != nil)
        // A log that has got long gives its space back; the next one need not be as long.
        let mode = logPages > 2 * options.restartPages ? SQLITE_CHECKPOINT_TRUNCATE : mode
        var outcome = connection.checkpoint(
            mode, waitSecondsMax: min(waitSecondsMax, plan.waitSeconds), now: now)
        let hasReaders = outcome.code != SQLITE_OK && !outcome.isFailure
        if hasReaders, isLast, logPages >= options.logPagesMax, endSnapshots() {
            outcome = connection.checkpoint(
                mode, waitSecondsMax: min(waitSecondsMax, options.readerWaitSecondsMax) * 10,
                now: now)
        }
        let held = Double(now() &- start) / 1e9
        state.withLock { state in
            state.measured.writerHeldSeconds.record(held)
            guard isLast || !hasReaders else { return }
            if outcome.code == SQLITE_OK {
                state.movedPages = 0
                state.restartAt = options.restartPages
                state.measured.restarts &+= 1
            } else {
                // Readers are in the way: let writers go on for a while.
                state.restartAt = max(logPages, outcome.logPages) + plan.pagesToNextTry
                state.measured.restartsPutOff &+= outcome.isFailure ? 0 : 1
                state.measured.failures &+= outcome.isFailure ? 1 : 0
            }
        }
        if outcome.code & 0xff == SQLITE_FULL { writer?.checkpointMetFullDisk() }
        return isLast || !hasReaders
    }

    /// Ends the snapshots that have stood in the way for long; whether there were any.
    private func endSnapshots() -> Bool {
        let age = UInt64(options.endedSnapshotSecondsMin * 1e9)
        let moment = now()
        guard let snapshots, moment > age else { return false }
        let ended = snapshots.end(begunBefore: moment - age)
        // One that a busy machine has not let end since the last try counts once.
        state.withLock { $0.measured.snapshotsEnded &+= UInt64(ended.told) }
        return ended.found > 0
    }

    private func finished(_ writer: GroupWriter? = nil) {
        writer?.letHeavyGoOn()
        state.withLock { $0.isRunning = false }
    }
}

/// How long a restart waits for readers, and how soon it is tried again.
///
/// The longer the log, the longer it waits. But it waits so seldom that fewer than one commit in a
/// hundred waits longer than `readerWaitSecondsMax`.
private struct RestartPlan {
    let waitSeconds: Double
    let pagesToNextTry: Int

    /// - Parameter endsReaders: whether the next try may do more than wait; then it comes sooner.
    init(logPages: Int, _ options: CheckpointOptions, endsReaders: Bool) {
        let usual =
            logPages < 2 * options.logPagesMax
            ? options.checkpointPages / 2 : options.logPagesMax / 2
        pagesToNextTry = endsReaders ? min(usual, max(1, options.logPagesMax / 8)) : usual
        waitSeconds =
            switch logPages {
            case ..<options.logPagesMax: options.readerWaitSecondsMax / 10
            case ..<(2 * options.logPagesMax): options.readerWaitSecondsMax
            default: options.readerWaitSecondsMax * 10
            }
    }
}
