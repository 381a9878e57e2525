import Dispatch

/// The limits of a group writer and what is handed to it.
package struct WriterOptions: Sendable {
    /// The most cost, as submitters count it, that one commit holds; a dearer job goes alone.
    package var groupOperationsMax = 1_024
    /// The most bytes, as submitters count them, that one commit holds; a larger job goes alone.
    package var groupBytesMax = 4_194_304
    /// For how long a group takes in further jobs; what it has not come to is for the next.
    ///
    /// Where commits take long, a group may go on for twice as long as they do. It then stays, with its commit,
    /// within three times this.
    package var groupMillisecondsMax = 20
    /// The most jobs that may wait, and the most bytes that they may bring; of one caller an eighth.
    package var waitingJobsMax = 8_192
    package var waitingBytesMax = 268_435_456
    /// The most memory of the writing connection's page cache.
    package var cacheKiB = 16_384
    /// The most pages that the file may have; nil leaves it to the disk.
    package var pageCountMax: Int64?
    /// When the log is moved into the file; nil leaves it to the owner.
    package var checkpoints: CheckpointOptions? = CheckpointOptions()
    /// The file that holds disk space back for deletes and shutdown; nil goes without.
    ///
    /// The log is kept no longer than the reserve is large.
    package var reserve: DiskReserve.Options?
    /// How long writes are refused after the disk was full, before one is tried again.
    package var fullProbeSeconds = 1.0
    /// A monotonic clock, in nanoseconds.
    package var now: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    /// Who reads the file in this process and may be ended; nil for nobody.
    package var snapshots: OpenSnapshots?
    /// The virtual file system by its SQLite name; nil is the system's.
    package var fileSystem: String?

    package init() {}
}
