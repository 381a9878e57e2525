import GroupCommit

/// When the write-ahead log is moved into the file and started over.
package struct CheckpointOptions: Sendable {
    /// The pages of 4,096 bytes in the log, not yet in the file, that start a passive checkpoint.
    package var checkpointPages = 4_000
    /// The log's length at which it is started over if readers are gone in a tenth of the wait.
    package var restartPages = 8_000
    /// The log's length at which the writer waits for readers in earnest: 192 MiB, far above what readers that end
    /// leave.
    package var logPagesMax = 49_152
    /// How old a snapshot is that may be ended once the log is so long.
    package var endedSnapshotSecondsMin = 1.0
    /// The longest that the writer waits for readers at a time.
    ///
    /// When the log is twice as long as it should be, it waits ten times as long, but seldom.
    package var readerWaitSecondsMax = 0.05
    /// Called after each checkpoint that failed by nothing, on the checkpoints' queue.
    package var didMove: @Sendable () -> Void = {}

    package init() {}

    /// The same with a log that moves into the file on a reserve of this size, with room to spare.
    ///
    /// When the disk is full, the file may still grow by as much as the log holds, while deletes
    /// add to the log.
    func fitting(reserveBytes: Int) -> CheckpointOptions {
        let pages = max(reserveBytes / 2, reserveBytes - Self.spareBytes) / 4_096
        guard pages < logPagesMax else { return self }
        var smaller = self
        smaller.logPagesMax = pages
        smaller.restartPages = min(restartPages, pages - pages / 4)
        smaller.checkpointPages = min(checkpointPages, max(1, pages / 2))
        return smaller
    }

    private static let spareBytes = 8 << 20
}

/// What checkpoints have done so far.
package struct CheckpointMeasurements: Sendable {
    /// How long passive checkpoints took, beside the writer.
    package var seconds = Histogram(bounds: Histogram.secondsBounds)
    /// How long the writer was held up to start the log over.
    package var writerHeldSeconds = Histogram(bounds: Histogram.secondsBounds)
    /// How often the log was started over.
    package var restarts: UInt64 = 0
    /// How often readers put that off.
    package var restartsPutOff: UInt64 = 0
    /// How many snapshots were ended because the log had got too long.
    package var snapshotsEnded: UInt64 = 0
    /// How often a checkpoint failed; the log keeps what it could not move.
    package var failures: UInt64 = 0

    mutating func add(_ other: CheckpointMeasurements) {
        seconds.add(other.seconds)
        writerHeldSeconds.add(other.writerHeldSeconds)
        restarts &+= other.restarts
        restartsPutOff &+= other.restartsPutOff
        snapshotsEnded &+= other.snapshotsEnded
        failures &+= other.failures
    }
}
