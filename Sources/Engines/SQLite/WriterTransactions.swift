import GroupCommit
import Synchronization

/// The transactions of a writer: what SQLite gives the committer.
///
/// Confined to the committer's queue, but for `logPages`.
final class WriterTransactions: GroupEngine {
    /// The writing connection; nil once it is closed.
    private(set) var connection: Connection?
    /// Told when a checkpoint has met a full disk.
    weak var writer: GroupWriter?
    /// The pages in the write-ahead log after the last commit.
    let logPages = Mutex(0)
    private let hooks: (any GroupHooks)?
    private let checkpointer: Checkpointer?
    private let reserve: DiskReserve?
    private let roomBytes: Int
    private let now: @Sendable () -> UInt64
    private var statements: Statements?
    private var hasBegun = false
    private var hasFailed = false

    /// What begins and ends transactions and jobs.
    private struct Statements {
        let begin: Statement
        let commit: Statement
        let savepoint: Statement
        let release: Statement
        let rollbackToSavepoint: Statement

        init(_ connection: Connection) throws {
            begin = try connection.prepare("BEGIN IMMEDIATE")
            commit = try connection.prepare("COMMIT")
            savepoint = try connection.prepare("SAVEPOINT job")
            release = try connection.prepare("RELEASE job")
            rollbackToSavepoint = try connection.prepare("ROLLBACK TO job")
        }
    }

    init(
        _ connection: Connection, _ hooks: (any GroupHooks)?, _ checkpointer: Checkpointer?,
        _ options: WriterOptions
    ) throws {
        statements = try Statements(connection)
        self.connection = connection
        self.hooks = hooks
        self.checkpointer = checkpointer
        reserve = options.reserve.map(DiskReserve.init)
        roomBytes = options.reserve?.bytes ?? .max
        now = options.groups.now
    }

    /// The writing connection.
    ///
    /// - Throws: `WriterError.closed`.
    func open() throws -> Connection {
        guard let connection else { throw WriterError.closed }
        return connection
    }

    private func prepared() throws -> Statements {
        guard let statements else { throw WriterError.closed }
        return statements
    }

    // MARK: - A group

    func begin() throws {
        hasBegun = false
        try prepared().begin.run()
        hasBegun = true
        try hooks?.groupBegan(open())
    }

    func run(_ job: PendingJob, isIsolated: Bool) throws -> JobEnd {
        let (connection, statements) = (try open(), try prepared())
        let changesBefore = connection.totalChangeCount
        if isIsolated { try statements.savepoint.run() }
        hooks?.jobBegan()
        do {
            try job.run()
        } catch {
            if endsGroup(error) || !connection.isInTransaction { throw error }
            connection.resetStatements()
            if isIsolated {
                try statements.rollbackToSavepoint.run()
                try statements.release.run()
            } else if connection.totalChangeCount != changesBefore {
                return .needsIsolation
            }
            hooks?.jobRolledBack()
            return .undone
        }
        // NB: a job that swallows FULL or IOERR has lost the transaction all the same.
        guard connection.isInTransaction else { throw connection.lastError() }
        if isIsolated { try statements.release.run() }
        return .done
    }

    private func endsGroup(_ error: any Error) -> Bool {
        switch (error as? SQLiteError)?.kind {
        case .full, .inputOutput, .outOfMemory, .corrupt: true
        default: false
        }
    }

    func prepare() throws { try hooks?.groupWillCommit(open()) }

    func commit() -> GroupEnd {
        do {
            try prepared().commit.run()
        } catch let error as SQLiteError where error.kind == .full {
            // The frame that would end the transaction did not fit, so recovery ignores the rest.
            return rollBack(error)
        } catch {
            return .indeterminate(error)
        }
        hooks?.groupCommitted()
        if let connection { logPages.withLock { $0 = connection.logPages } }
        return .committed
    }

    func rollBack(_ error: any Error) -> GroupEnd {
        guard hasBegun, let connection else { return .rolledBack(error) }
        connection.resetStatements()
        if connection.isInTransaction {
            do { try connection.execute("ROLLBACK") } catch {
                guard !connection.isInTransaction else { return .indeterminate(error) }
            }
        }
        hooks?.groupRolledBack()
        return .rolledBack(error)
    }

    func told() {
        guard let connection, let writer else { return }
        checkpointer?.committed(logPages: connection.logPages, writer, connection)
    }

    // MARK: - When the disk is full

    var refusalWhileFull: any Error { SQLiteError.diskFull }

    func saysFull(_ error: any Error) -> Bool { (error as? SQLiteError)?.kind == .full }

    func becameFull() { reserve?.release() }

    /// Gives the log's space to the file, as far as the reserve's room lets it grow.
    func makeRoom() {
        guard let connection else { return }
        checkpointer?.makeRoom(connection, roomBytes: roomBytes)
    }

    /// Whether the reserve fits again, once the file has given back what deletes have freed.
    ///
    /// The room beside the reserve is small, and deletes alone would fill it by what they write to the log.
    func hasRoomAgain() -> Bool {
        if let connection, reserve?.isHeld == false {
            FreedSpace(connection, now: now).giveBack()
        }
        return holdsReserve()
    }

    func holdsReserve() -> Bool { reserve?.hold() ?? true }

    // MARK: - Ending

    func failed() {
        hasFailed = true
        // Recovery has to judge the log as it lies: closing must not checkpoint it.
        connection?.leaveLogOnClose()
        checkpointer?.stop()
    }

    func close() {
        if !hasFailed, let connection {
            connection.resetStatements()
            connection.truncateLog()
        }
        statements = nil
        connection = nil
    }
}
