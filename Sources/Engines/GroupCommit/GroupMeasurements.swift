/// What a committer has done so far and how it stands.
package struct GroupMeasurements: Sendable {
    /// Groups that are in the database.
    package var commits: UInt64 = 0
    /// Jobs that were in those groups, including the ones that failed by their own error.
    package var jobs: UInt64 = 0
    /// Jobs that failed by their own error, each undone alone.
    package var jobRollbacks: UInt64 = 0
    /// Groups that were undone as a whole.
    package var groupRollbacks: UInt64 = 0
    /// Jobs refused because there was no room.
    package var refusedWhileFull: UInt64 = 0
    /// Jobs that wait for a group.
    package var waiting = 0
    /// Jobs to a commit.
    package var commitJobs = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024])
    /// How long commits took.
    package var commitSeconds = Histogram(bounds: Histogram.secondsBounds)
    /// How long a group took from its beginning to the end of its commit.
    package var groupSeconds = Histogram(bounds: Histogram.secondsBounds)
    /// How long each group's oldest job had to wait until reads could see it.
    package var feedLagSeconds = Histogram(bounds: Histogram.secondsBounds)
    /// Whether writes are refused because there is no room.
    package var isFull = false
    /// Whether a commit failed indeterminately, so that only a restart helps.
    package var isFailed = false

    package init() {}

    /// Adds what another committer has done that is closed; how it stood is over.
    package mutating func add(_ other: GroupMeasurements) {
        commits &+= other.commits
        jobs &+= other.jobs
        jobRollbacks &+= other.jobRollbacks
        groupRollbacks &+= other.groupRollbacks
        refusedWhileFull &+= other.refusedWhileFull
        commitJobs.add(other.commitJobs)
        commitSeconds.add(other.commitSeconds)
        groupSeconds.add(other.groupSeconds)
        feedLagSeconds.add(other.feedLagSeconds)
    }
}
