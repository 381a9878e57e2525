import Audit
import Configuration
import Control
import Cryptography
import Files
import HTTP
import RequestRecords
import SQLite
import SQLiteStorage
import Storage
import Telemetry

#if PostgreSQL
    import PostgreSQL
    import PostgreSQLStorage
#endif

extension ServerConfiguration {
    /// The engine that keeps the data: the one place of the server that names one.
    ///
    /// - Parameter folder: of the server's data; each engine decides whether it keeps its own there, too.
    /// - Throws: `CommandFailure` for one that this build does not have, or whose password cannot be read.
    func engineFactory(
        for folder: String, random: @escaping @Sendable (Int) -> [UInt8]
    ) throws(CommandFailure) -> any EngineFactory {
        switch storage.engine {
        case .sqlite: return SQLiteEngineFactory(folder: folder, engineSettings, random: random)
        case .postgres:
            #if PostgreSQL
                return PostgreSQLEngineFactory(
                    try postgresSettings(), place: postgresPlace, random: random)
            #else
                throw CommandFailure(
                    "storage.engine: this build has no postgres. Build one that has it: `swift build -c release "
                        + "--traits ApplePush,PostgreSQL`, with libpq-dev installed.")
            #endif
        }
    }

    /// Where the data are, as commands name it.
    var dataAddress: String {
        switch storage.engine {
        case .sqlite: "sqlite:\(data)"
        case .postgres: storage.postgresURL
        }
    }

    /// Runs a body with a configuration whose data are elsewhere and go afterwards.
    ///
    /// They are in a folder and, where the server's are in a database, in one of their own. No bucket is touched, and no
    /// key of this server's is wanted.
    ///
    /// - Parameter folder: where there is nothing yet.
    /// - Throws: `CommandFailure`, what the database reports, and what the body throws.
    func withScratchData<Result>(
        in folder: String, random: RandomSource, _ body: (ServerConfiguration) throws -> Result
    ) throws -> Result {
        var own = self
        own.data = folder
        own.s3.bucket = ""
        own.security.keyFile = ""
        // NB: what stays goes with the next start.
        defer { try? FileSystem.removeTree(folder) }
        #if PostgreSQL
            if storage.engine == .postgres {
                let database = try scratchDatabase(random)
                defer { database.remove() }
                own.storage.postgresURL = ScratchDatabase.url(
                    storage.postgresURL, of: database.name)
                own.storage.postgres.standbyURL = ""
                own.storage.postgres.listenURL = ""
                return try body(own)
            }
        #endif
        return try body(own)
    }

    /// Refuses a folder in which another engine than the configured one keeps data.
    ///
    /// - Throws: `CommandFailure`.
    func requireOneEngine(in folder: String) throws {
        let files = SQLiteEngineFactory(folder: folder, engineSettings) { _ in [] }
        guard storage.engine != .sqlite, try files.hasData() else { return }
        throw CommandFailure(
            "\(folder) has \(files.words.catalog), and storage.engine is "
                + "\(storage.engine.rawValue). Name another folder by --data, or the engine that keeps this one."
        )
    }

    #if PostgreSQL
        private var postgresPlace: String { PostgresAddress(storage.postgresURL)?.place ?? "" }

        /// How the PostgreSQL is reached.
        ///
        /// - Throws: `CommandFailure` for a password that cannot be read.
        func postgresSettings() throws(CommandFailure) -> PostgreSQLEngine.Settings {
            let postgres = storage.postgres
            var settings = PostgreSQLEngine.Settings(try connection(to: storage.postgresURL))
            settings.sessionsMax = postgres.sessionsMax
            if !postgres.standbyURL.isEmpty {
                settings.standby = try connection(to: postgres.standbyURL, isStandby: true)
            }
            if !postgres.listenURL.isEmpty {
                settings.listening = try connection(to: postgres.listenURL)
            }
            return settings
        }

        private func scratchDatabase(_ random: RandomSource) throws -> ScratchDatabase {
            do {
                return try ScratchDatabase(
                    beside: connection(to: storage.postgresURL),
                    suffix: Hexadecimal.encode(random.bytes(8)))
            } catch let error as PostgreSQLError where error.kind == .refused {
                throw CommandFailure(
                    "to look into a backup the server makes a database for as long as that lasts, and its role may "
                        + "not: have an administrator say ALTER ROLE … CREATEDB. \(error)")
            }
        }

        /// - Parameter isStandby: whether a server will do that takes no writes.
        private func connection(
            to url: String, isStandby: Bool = false
        ) throws(CommandFailure) -> ConnectionOptions {
            var connection = ConnectionOptions(address: url)
            connection.takesStandby = isStandby
            // By the name alone nobody knows who answers there.
            if PostgresAddress(url)?.isLocal != true {
                connection.defaults["sslmode"] = "verify-full"
            }
            connection.connectSecondsMax = storage.postgres.connectSecondsMax
            connection.answerMillisecondsMax = storage.postgres.answerSecondsMax * 1_000
            let file = storage.postgres.passwordFile
            guard !file.isEmpty else { return connection }
            do {
                let bytes = try FileSystem.contents(of: file, bytesMax: 4_096)
                connection.password = String(
                    decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
            } catch {
                throw CommandFailure("\(error)")
            }
            return connection
        }
    #endif

    /// What keeps the telemetry: a file beside the data, or the database that all processes share.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - process: this one, as the others know it.
    /// - Throws: what the engine reports, `CommandFailure`.
    func openTelemetry(_ path: String, by process: [UInt8]) throws -> any TelemetryStorage {
        #if PostgreSQL
            if storage.engine == .postgres {
                return try PostgreSQLTelemetry(
                    postgresSettings().connection.owned(by: process))
            }
        #endif
        return try SQLiteTelemetry(path: path)
    }

    /// What keeps lines of requests: a folder beside the data, or the database that all processes share; nil where the
    /// settings keep none.
    ///
    /// - Throws: what the file system or the database reports, `CommandFailure`.
    func openRequests(_ path: String, by process: [UInt8]) throws -> (any RequestStorage)? {
        guard requests.bytesMax > 0 else { return nil }
        #if PostgreSQL
            if storage.engine == .postgres {
                return try PostgreSQLRequests(
                    postgresSettings().connection.owned(by: process), requestLimits)
            }
        #endif
        return try RequestRing(path, requestLimits)
    }

    /// Where it is noted who did what: in a file beside the data, or in the database that all processes share.
    ///
    /// - Throws: `AuditFailure`, `CommandFailure`.
    func openAudit(_ path: String, by process: [UInt8]) throws -> any AuditStorage {
        #if PostgreSQL
            if storage.engine == .postgres {
                return AuditRows(
                    PostgreSQLAudit(try postgresSettings().connection.owned(by: process)))
            }
        #endif
        return try AuditLog(path: path)
    }

    /// Where ledgers of erased people are held against one another; nil for a folder that has the only one.
    ///
    /// - Throws: `CommandFailure`.
    func sharedErasures(by process: [UInt8]) throws -> (@Sendable ([String]) throws -> [String])? {
        #if PostgreSQL
            if storage.engine == .postgres {
                let shared = PostgreSQLErasures(
                    try postgresSettings().connection.owned(by: process))
                return { try shared.exchange($0) }
            }
        #endif
        return nil
    }

    /// How much is kept of requests.
    package var requestLimits: RequestLimits {
        RequestLimits(bytesMax: requests.bytesMax, daysMax: requests.daysMax)
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
        // What reads is the processors' work: more would wait for them, and each has a cache of its own.
        settings.readers.connectionsMax = HTTPServer.coreCount
        settings.readers.cacheKiB = sqlite.readerCacheKiB
        return settings
    }
}
