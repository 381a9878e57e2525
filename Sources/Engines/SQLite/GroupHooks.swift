/// What the owner of a database keeps in memory beside it.
///
/// It is told what becomes of each group.
///
/// Every call comes on the writer's queue. For one group, the order is: `groupBegan`; for each job
/// `jobBegan` and, when the job threw, `jobRolledBack`; at last `groupWillCommit` and
/// `groupCommitted`, or `groupRolledBack`. A group that is undone and run again begins again. After
/// a COMMIT whose outcome is not known, nothing is called.
package protocol GroupHooks: AnyObject {
    /// Called after BEGIN IMMEDIATE; an error fails the whole group.
    func groupBegan(_ connection: Connection) throws
    /// Called before a job runs.
    func jobBegan()
    /// Called when a job threw and what it did is undone: forget what it did to the state.
    func jobRolledBack()
    /// Runs the last statements before COMMIT; an error fails the whole group.
    func groupWillCommit(_ connection: Connection) throws
    /// Called after COMMIT, before the members' completions run.
    func groupCommitted()
    /// Called when nothing of the group is in the database.
    func groupRolledBack()
}

extension GroupHooks {
    package func groupBegan(_ connection: Connection) throws {}
    package func jobBegan() {}
    package func jobRolledBack() {}
    package func groupWillCommit(_ connection: Connection) throws {}
    package func groupCommitted() {}
    package func groupRolledBack() {}
}
