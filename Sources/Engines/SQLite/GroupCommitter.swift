import CSQLite

/// Runs one group of jobs as one transaction.
///
/// Confined to the writer's queue.
final class GroupCommitter {
    /// How a group ended.
    enum Outcome {
        case committed
        /// Nothing of the group is in the database, nor will be.
        case rolledBack(any Error)
        /// Only recovery from the files can tell.
        case indeterminate(SQLiteError)
    }

    let connection: Connection
    private let hooks: (any GroupHooks)?
    private let now: @Sendable () -> UInt64
    private let begin: Statement
    private let commit: Statement
    private let savepoint: Statement
    private let release: Statement
    private let rollbackToSavepoint: Statement
    private(set) var commitNanoseconds: UInt64 = 0
    private(set) var jobRollbacks = 0
    /// How many jobs of the last group were run; the others have not been touched.
    private(set) var jobsRun = 0
    /// How long each of them took.
    private(set) var jobNanoseconds: [UInt64] = []

    init(
        connection: Connection, hooks: (any GroupHooks)?, now: @escaping @Sendable () -> UInt64
    ) throws {
        self.connection = connection
        self.hooks = hooks
        self.now = now
        begin = try connection.prepare("BEGIN IMMEDIATE")
        commit = try connection.prepare("COMMIT")
        savepoint = try connection.prepare("SAVEPOINT job")
        release = try connection.prepare("RELEASE job")
        rollbackToSavepoint = try connection.prepare("ROLLBACK TO job")
    }

    /// Runs the group, at first without savepoints.
    ///
    /// In a savepoint, SQLite keeps a copy of every page that a job is the first to change. But a
    /// job hardly ever fails once it has written. When one does, everything is undone and run
    /// again, each job in a savepoint.
    ///
    /// - Parameter goesOn: whether another job is begun, so long after the group began.
    func run(_ group: ArraySlice<PendingJob>, while goesOn: (UInt64) -> Bool) -> Outcome {
        let outcome = run(group, goesOn, inSavepoints: false)
        guard case .rolledBack(let error) = outcome, error is JobNeedsSavepoint else {
            return outcome
        }
        return run(group, goesOn, inSavepoints: true)
    }

    private func run(
        _ group: ArraySlice<PendingJob>, _ goesOn: (UInt64) -> Bool, inSavepoints: Bool
    ) -> Outcome {
        jobRollbacks = 0
        commitNanoseconds = 0
        jobNanoseconds.removeAll(keepingCapacity: true)
        // What fails as a whole fails for all of it.
        jobsRun = group.count
        do { try begin.run() } catch { return .rolledBack(error) }
        let begun = now()
        do {
            try hooks?.groupBegan(connection)
            var moment = begun
            for job in group {
                if !jobNanoseconds.isEmpty, !goesOn(moment &- begun) { break }
                try run(job, inSavepoint: inSavepoints)
                let end = now()
                jobNanoseconds.append(end &- moment)
                moment = end
            }
            jobsRun = jobNanoseconds.count
            try hooks?.groupWillCommit(connection)
        } catch { return rollBack(error) }
        let start = now()
        defer { commitNanoseconds = now() &- start }
        do {
            try commit.run()
        } catch let error as SQLiteError where error.kind == .full {
            // The frame that would end the transaction did not fit, so recovery ignores the rest.
            return rollBack(error)
        } catch let error as SQLiteError {
            return .indeterminate(error)
        } catch {
            return .indeterminate(connection.lastError())
        }
        hooks?.groupCommitted()
        return .committed
    }

    /// Runs one job; throws only what ends the whole group.
    private func run(_ job: PendingJob, inSavepoint: Bool) throws {
        let changesBefore = connection.totalChangeCount
        if inSavepoint { try savepoint.run() }
        hooks?.jobBegan()
        do {
            try job.run(connection)
        } catch {
            if endsGroup(error) || !connection.isInTransaction { throw error }
            connection.resetStatements()
            if inSavepoint {
                try rollbackToSavepoint.run()
                try release.run()
            } else if connection.totalChangeCount != changesBefore {
                throw JobNeedsSavepoint()
            }
            hooks?.jobRolledBack()
            jobRollbacks += 1
            return
        }
        // NB: a job that swallows FULL or IOERR has lost the transaction all the same.
        guard connection.isInTransaction else { throw connection.lastError() }
        if inSavepoint { try release.run() }
    }

    private func endsGroup(_ error: any Error) -> Bool {
        switch (error as? SQLiteError)?.kind {
        case .full, .inputOutput, .outOfMemory, .corrupt: true
        default: false
        }
    }

    private func rollBack(_ error: any Error) -> Outcome {
        connection.resetStatements()
        if connection.isInTransaction {
            do { try connection.execute("ROLLBACK") } catch {
                guard !connection.isInTransaction else {
                    return .indeterminate(
                        (error as? SQLiteError) ?? connection.lastError())
                }
            }
        }
        hooks?.groupRolledBack()
        return .rolledBack(error)
    }
}

/// Thrown when a job has failed that has changed something already, and nothing undoes it alone.
private struct JobNeedsSavepoint: Error {}
