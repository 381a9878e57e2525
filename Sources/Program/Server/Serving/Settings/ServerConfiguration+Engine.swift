import Configuration
import HTTP
import SQLite
import SQLiteStorage
import Storage
import Telemetry

extension ServerConfiguration {
    /// The engine that keeps the data: the one place of the server that names one.
    func engineFactory(random: @escaping @Sendable (Int) -> [UInt8]) -> any EngineFactory {
        SQLiteEngineFactory(engineSettings, random: random)
    }

    /// What keeps the telemetry, whatever keeps the data.
    static func openTelemetry(_ path: String) throws -> any TelemetryStorage {
        try SQLiteTelemetry(path: path)
    }

    var engineSettings: SQLiteEngine.Settings {
        let sqlite = storage.sqlite
        var settings = SQLiteEngine.Settings()
        settings.loopCount = loopCount
        settings.writer.cacheKiB = sqlite.writerCacheKiB
        if storage.reserveBytes > 0 {
            // All stores of a folder share one.
            settings.writer.reserve = DiskReserve.Options(
                path: DataFolder.reservePath(in: data), bytes: storage.reserveBytes)
        }
        settings.readers.connectionsMax = sqlite.readers > 0 ? sqlite.readers : HTTPServer.coreCount
        settings.readers.cacheKiB = sqlite.readerCacheKiB
        settings.positionCacheBytesMax = sqlite.knownPlacesKiB * 1_024
        return settings
    }
}
