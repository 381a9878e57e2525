import GroupCommit

/// What the writer of a database has done so far and how it stands.
package struct WriterMeasurements: Sendable {
    package var groups = GroupMeasurements()
    /// The pages in the write-ahead log after the last commit.
    package var logPages = 0
    /// The log's checkpoints.
    package var checkpoints = CheckpointMeasurements()

    package init() {}

    /// Adds what another writer has done that is closed; how it stood is over.
    package mutating func add(_ other: WriterMeasurements) {
        groups.add(other.groups)
        checkpoints.add(other.checkpoints)
    }
}
