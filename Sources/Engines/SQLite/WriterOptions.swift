import GroupCommit

/// How a database is written.
package struct WriterOptions: Sendable {
    /// How writes are put together into groups.
    package var groups = GroupOptions()
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
    /// Who reads the file in this process and may be ended; nil for nobody.
    package var snapshots: OpenSnapshots?
    /// The virtual file system by its SQLite name; nil is the system's.
    package var fileSystem: String?

    package init() {}
}
