import Configuration
import HTTP
import SQLite
import SQLiteStorage
import Storage

extension ServerConfiguration {
    /// The engine that keeps the data: the one place of the server that names one.
    func engineFactory(random: @escaping @Sendable (Int) -> [UInt8]) -> any EngineFactory {
        SQLiteEngineFactory(engineSettings, random: random)
    }

    private var engineSettings: SQLiteEngine.Settings {
        var settings = SQLiteEngine.Settings()
        settings.loopCount = loopCount
        settings.followerChangesMax = storage.followerChangesMax
        settings.moveFreeBytesMin = storage.moveFreeBytesMin
        settings.keepsFormer = storage.backupBeforeMigration == .on
        settings.freeBytesMin = storage.reserveBytes
        settings.writer.groupOperationsMax = storage.groupOperationsMax
        settings.writer.groupBytesMax = storage.groupBytesMax
        settings.writer.groupMillisecondsMax = storage.groupMillisecondsMax
        settings.writer.waitingJobsMax = storage.waitingWritesMax
        settings.writer.waitingBytesMax = storage.waitingBytesMax
        settings.writer.cacheKiB = storage.writerCacheKiB
        settings.writer.checkpoints = checkpoints
        if storage.reserveBytes > 0 {
            // All stores of a folder share one.
            settings.writer.reserve = DiskReserve.Options(
                path: DataFolder.reservePath(in: data), bytes: storage.reserveBytes)
        }
        settings.readers.connectionsMax =
            storage.readers > 0 ? storage.readers : HTTPServer.coreCount
        settings.readers.cacheKiB = storage.readerCacheKiB
        settings.knownPlacesBytesMax = storage.knownPlacesKiB * 1_024
        return settings
    }

    /// When write-ahead logs are moved into their files.
    private var checkpoints: CheckpointOptions {
        var options = CheckpointOptions()
        options.checkpointPages = storage.checkpointPages
        // The group that is being written when it gets so long has to fit, too.
        options.logPagesMax = storage.walBytesMax / Self.pageBytes * 3 / 4
        options.restartPages = min(storage.checkpointPages * 2, options.logPagesMax)
        return options
    }

    /// Of the databases, as SQLite makes them.
    private static let pageBytes = 4_096
}
