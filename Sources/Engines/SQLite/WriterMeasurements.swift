/// What a group writer has done so far and how it stands.
package struct WriterMeasurements: Sendable {
    /// Groups that are in the database.
    package var commits: UInt64 = 0
    /// Jobs that were in those groups, including the ones that failed by their own error.
    package var jobs: UInt64 = 0
    /// Jobs that failed by their own error, each undone alone.
    package var jobRollbacks: UInt64 = 0
    /// Groups that were undone as a whole.
    package var groupRollbacks: UInt64 = 0
    /// Jobs refused because the disk was full.
    package var refusedWhileFull: UInt64 = 0
    /// Jobs that wait for a group.
    package var waiting = 0
    /// Jobs to a commit.
    package var commitJobs = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024])
    /// How long COMMIT took: writing the log and one fsync.
    package var commitSeconds = Histogram(bounds: Self.secondsBounds)
    /// How long a group took from BEGIN to the end of COMMIT.
    package var groupSeconds = Histogram(bounds: Self.secondsBounds)
    /// How long each group's oldest job had to wait until reads could see it.
    package var feedLagSeconds = Histogram(bounds: Self.secondsBounds)
    /// The pages in the write-ahead log after the last commit.
    package var logPages = 0
    /// The log's checkpoints.
    package var checkpoints = CheckpointMeasurements()
    /// Whether writes are refused because the disk is full.
    package var isDiskFull = false
    /// Whether a COMMIT failed indeterminately, so that only a restart helps.
    package var isFailed = false

    package init() {}

    /// Adds what another writer has done that is closed; how it stood is over.
    package mutating func add(_ other: WriterMeasurements) {
        commits &+= other.commits
        jobs &+= other.jobs
        jobRollbacks &+= other.jobRollbacks
        groupRollbacks &+= other.groupRollbacks
        refusedWhileFull &+= other.refusedWhileFull
        commitJobs.add(other.commitJobs)
        commitSeconds.add(other.commitSeconds)
        groupSeconds.add(other.groupSeconds)
        feedLagSeconds.add(other.feedLagSeconds)
        checkpoints.add(other.checkpoints)
    }

    static let secondsBounds = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
    ]
}
