import Dispatch
import GroupCommit
import Synchronization

/// The one writer of a database file: a committer whose transactions are SQLite's.
///
/// FULL, IOERR and NOMEM inside a group undo the whole group, and every member gets that error. An error from COMMIT
/// other than FULL is indeterminate.
package final class GroupWriter: Sendable {
    package let path: String
    private let committer: GroupCommitter
    private let checkpointer: Checkpointer?
    private let now: @Sendable () -> UInt64
    // Touched on the committer's queue only, and in `init` before anybody else can.
    private nonisolated(unsafe) let transactions: WriterTransactions

    /// Opens the database and makes the hooks, which may migrate it and load their state.
    ///
    /// - Parameters:
    ///   - makeHooks: called once with the writing connection, before any job.
    ///   - onIndeterminate: called once on the writer's queue; the process should end and restart.
    /// - Throws: `SQLiteError` when the file cannot be opened, and whatever `makeHooks` throws.
    package init(
        path: String, options: WriterOptions = WriterOptions(),
        makeHooks: (Connection) throws -> (any GroupHooks)? = { _ in nil },
        onIndeterminate: @escaping @Sendable (any Error) -> Void
    ) throws {
        let connection = try Connection(
            path: path, mode: .readWrite, cacheKiB: options.cacheKiB,
            fileSystem: options.fileSystem)
        if let pages = options.pageCountMax {
            try connection.execute("PRAGMA max_page_count = \(pages)")
        }
        let hooks = try makeHooks(connection)
        self.path = path
        now = options.groups.now
        checkpointer = options.checkpoints.map {
            Checkpointer(
                path: path, fileSystem: options.fileSystem,
                options: $0.fitting(reserveBytes: options.reserve?.bytes ?? .max),
                snapshots: options.snapshots, now: options.groups.now)
        }
        transactions = try WriterTransactions(connection, hooks, checkpointer, options)
        let hasReserve = transactions.holdsReserve()
        committer = GroupCommitter(
            transactions, options: options.groups, isFull: !hasReserve,
            onIndeterminate: onIndeterminate)
        transactions.writer = self
    }

    /// Runs `job` in the next group, possibly twice, and `completion` after the group's COMMIT or
    /// failure, both on the writer's queue.
    ///
    /// - Parameters:
    ///   - cost, bytes, caller, frees: as `GroupCommitter.submit` has them.
    ///   - completion: gets what `job` returned or threw; or the group's `SQLiteError`; or a
    ///     `WriterError`. Success means that the job's changes are on disk.
    package func submit<Value: Sendable>(
        cost: Int = 1, bytes: Int = 0, caller: UInt64 = 0, frees: Bool = false,
        _ job: @escaping @Sendable (Connection) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        committer.submit(
            cost: cost, bytes: bytes, caller: caller, frees: frees,
            { [self] in try job(transactions.open()) }, completion: completion)
    }

    /// Runs `job` as `submit` does and waits for the commit; never call it on the writer's queue.
    ///
    /// - Throws: as `submit` hands to its completion.
    package func write<Value: Sendable>(
        cost: Int = 1, frees: Bool = false,
        _ job: @escaping @Sendable (Connection) throws -> Value
    ) throws -> Value {
        committer.mustNotBeOnQueue()
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
        committer.betweenGroups { [self] in body(transactions.connection) }
    }

    /// Has those wait who hold others up, while these are about, and runs `body` between two groups.
    func holdBackHeavy(then body: @escaping @Sendable () -> Void) {
        committer.holdBackHeavy(then: body)
    }

    func letHeavyGoOn() { committer.letHeavyGoOn() }

    /// Whether somebody holds others up who are about; on the writer's queue only.
    var sparesOthers: Bool { committer.sparesOthers }

    /// Moves all of the log into the file and truncates it, unless readers are in the way.
    ///
    /// Most of it is moved beside the writer; the rest holds it up for as long as the disk takes. Never called on
    /// the writer's queue.
    ///
    /// - Returns: whether nothing is left in the log.
    /// - Throws: `WriterError.closed`, `SQLiteError`.
    package func emptyLog() throws -> Bool {
        try checkpointer?.moveNow()
        return try committer.waitBetweenGroups {
            let connection = try transactions.open()
            return checkpointer?.empty(connection) ?? connection.emptyLog(now: now)
        }
    }

    /// Finishes what waits, checkpoints and closes; later jobs get `WriterError.closed`.
    package func close() {
        committer.refuseMore()
        checkpointer?.close()
        committer.close()
    }

    /// What the writer has done so far and how it stands.
    package var measurements: WriterMeasurements {
        var now = WriterMeasurements()
        now.groups = committer.measurements
        now.logPages = transactions.logPages.withLock { $0 }
        if let checkpointer { now.checkpoints = checkpointer.measurements }
        return now
    }

    /// Whether writes are refused because the disk is full.
    package var isDiskFull: Bool { committer.isFull }

    /// Lets the reserve go, since what is committed already cannot be moved into the file.
    func checkpointMetFullDisk() { committer.noteFull() }
}
