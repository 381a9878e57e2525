/// What an engine gives a committer: one transaction after the other, on one connection.
///
/// The committer says which jobs a transaction holds, in which order, and who is told of what came of it. The engine
/// begins, runs and commits, and says what its errors mean. Every call comes on the committer's queue, so the engine
/// needs no locks. For one group, the order is: `begin`; `run` for each job; `prepare`; `commit`. `rollBack` comes after
/// an error of any of them but `commit`, which undoes for itself what it can.
package protocol GroupEngine: AnyObject {
    /// Told of the jobs that the next transaction may hold, before it begins.
    ///
    /// For an engine that fetches what they need at once (`PendingJob.needs`).
    func foresee(_ jobs: ArraySlice<PendingJob>)

    /// Begins a transaction; an error fails the whole group.
    func begin() throws

    /// Runs one job within the transaction.
    ///
    /// - Parameter isIsolated: whether the job can be undone alone once it has written. That is not for nothing, so a
    ///   group is run without it at first.
    /// - Throws: what ends the whole group. A job's own error is the job's to keep.
    func run(_ job: PendingJob, isIsolated: Bool) throws -> JobEnd

    /// Writes what is left to be written before the commit; an error fails the whole group.
    func prepare() throws

    /// Commits; on success, what the group has written is on disk and can be read.
    func commit() -> GroupEnd

    /// Undoes all of the transaction after an error.
    func rollBack(_ error: any Error) -> GroupEnd

    /// Called when the jobs of a commit have been told: time for what nobody waits for.
    func told()

    // MARK: When there is no room

    /// What jobs are told that are refused because there is no room.
    var refusalWhileFull: any Error { get }

    /// Whether an error says that there is no room, which more room would mend.
    func saysFull(_ error: any Error) -> Bool

    /// Called when there is no room: lets go what was kept for this case.
    func becameFull()

    /// Called when the committer has written although there is no room: makes what room it can.
    func makeRoom()

    /// Whether writing may be tried again.
    func hasRoomAgain() -> Bool

    // MARK: Ending

    /// Called when nobody knows what became of a commit: whatever is on disk stays as it is.
    func failed()

    /// Closes the connection; no group comes any more.
    func close()
}

extension GroupEngine {
    /// Most engines ask when a job does.
    package func foresee(_ jobs: ArraySlice<PendingJob>) {}
}

/// How a job ended within its group.
package enum JobEnd {
    case done
    /// The job has failed, and nothing of it is left.
    case undone
    /// The job has failed, and only the end of the transaction undoes what it has written.
    case needsIsolation
}

/// How a group ended.
package enum GroupEnd {
    case committed
    /// Nothing of the group is in the database, nor will be.
    case rolledBack(any Error)
    /// Nobody knows yet what is in the database, and the engine goes on: the next group begins with what it finds there.
    ///
    /// The jobs get the error, which must say so.
    case unknown(any Error)
    /// Only recovery can tell what is in the database.
    case indeterminate(any Error)
}
