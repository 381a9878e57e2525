import CSQLite
import Dispatch
import Synchronization

/// Moves the write-ahead log into the database file beside the writer, and starts the log over.
///
/// Passive checkpoints run on a queue and a connection of their own and stop nobody. Only when they
/// have moved nearly all of a long log is the rest moved between two groups, where the log can be
/// started over; that holds the writer up for as long as the rest takes, at most
/// `readerWaitSecondsMax` of it waiting for readers.
final class Checkpointer: Sendable {
    private struct State {
        var isRunning = false
        /// The log's pages that are in the file.
        var movedPages = 0
        /// The log's length at which starting it over is tried next.
        var restartAt: Int
        var measured = CheckpointMeasurements()
    }

    private let options: CheckpointOptions
    private let now: @Sendable () -> UInt64
    private let queue = DispatchQueue(label: "sqlite.checkpointer")
    private let state: Mutex<State>
    // Touched on the queue only, and in `init` before anybody else can.
    private nonisolated(unsafe) var connection: Connection?

    init(
        path: String, fileSystem: String?, options: CheckpointOptions,
        now: @escaping @Sendable () -> UInt64
    ) throws {
        self.options = options
        self.now = now
        state = Mutex(State(restartAt: options.restartPages))
        connection = try Connection(
            path: path, mode: .readWrite, cacheKiB: 256, fileSystem: fileSystem)
        connection?.leaveLogOnClose()
    }

    var measurements: CheckpointMeasurements { state.withLock { $0.measured } }

    /// Takes note of the log's length after a commit, and starts a checkpoint when it is time.
    ///
    /// Called on the writer's queue.
    func committed(logPages: Int, _ writer: GroupWriter) {
        let starts = state.withLock { state in
            // The log was started over, by the commit itself when all of it had been moved.
            if logPages < state.movedPages { state.movedPages = 0 }
            guard !state.isRunning, logPages - state.movedPages >= options.checkpointPages else {
                return false
            }
            state.isRunning = true
            return true
        }
        if starts { queue.async { [weak writer] in self.run(writer, mustRestart: false) } }
    }

    /// Moves what there is and truncates the log, to make room on the disk.
    func makeRoom(_ writer: GroupWriter) {
        queue.async { [weak writer] in self.run(writer, mustRestart: true) }
    }

    /// Ends after the checkpoint that is going on, if any.
    func stop() {
        state.withLock { $0.isRunning = true }
        queue.async { self.connection = nil }
    }

    /// Ends, and returns when no checkpoint goes on.
    func close() {
        stop()
        queue.sync {}
    }

    private func run(_ writer: GroupWriter?, mustRestart: Bool) {
        guard let connection, let writer else { return }
        let start = now()
        var outcome = connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
        let isLong = outcome.logPages >= state.withLock { $0.restartAt }
        if isLong || mustRestart {
            // A second round moves what came during the first, so that little is left to wait for.
            outcome = connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
        }
        let seconds = Double(now() &- start) / 1e9
        state.withLock { state in
            state.movedPages = outcome.movedPages
            state.measured.seconds.record(seconds)
            if outcome.isFailure { state.measured.failures &+= 1 }
        }
        if outcome.code & 0xff == SQLITE_FULL { writer.checkpointMetFullDisk() }
        guard isLong || mustRestart, !outcome.isFailure else { return finished() }
        let mayWait = mustRestart || outcome.logPages >= options.logPagesMax
        writer.betweenGroups { connection in
            if let connection {
                self.restart(connection, mayWait: mayWait, truncates: mustRestart)
            }
            self.finished()
        }
    }

    /// Moves the rest and starts the log over.
    ///
    /// Called on the writer's queue, between two groups.
    ///
    /// - Parameter truncates: whether to give the log's space back to the disk. As a rule it is kept:
    ///   a log that need not grow is synced much faster.
    private func restart(_ connection: Connection, mayWait: Bool, truncates: Bool) {
        let start = now()
        // Short readers are waited for early on, so that the long wait is seldom needed.
        let seconds = options.readerWaitSecondsMax * (mayWait ? 1 : 0.1)
        let outcome = connection.checkpoint(
            truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART,
            waitSecondsMax: seconds, now: now)
        let held = Double(now() &- start) / 1e9
        state.withLock { state in
            state.measured.writerHeldSeconds.record(held)
            if outcome.code == SQLITE_OK {
                state.movedPages = 0
                state.restartAt = options.restartPages
                state.measured.restarts &+= 1
            } else {
                // Readers are in the way: let writers go on for a while.
                state.restartAt = outcome.logPages + options.checkpointPages / 2
                state.measured.restartsPutOff &+= 1
            }
        }
    }

    private func finished() { state.withLock { $0.isRunning = false } }
}
