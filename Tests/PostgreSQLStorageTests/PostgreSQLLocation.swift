#if PostgreSQL
    import CloudModel
    import Foundation
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    extension Engine {
        /// The engine of this target, each time in a database of its own on one server.
        static let postgreSQL = Engine(name: "PostgreSQL") { try PostgreSQLLocation($0) }
    }

    /// A database with one store.
    final class PostgreSQLLocation: EngineLocation {
        private let server: PostgreSQLServer
        private let database: String
        private let clock: TestClock
        private let open = Mutex<[PostgreSQLStore]>([])
        /// The database of each folder.
        private let folders = Mutex<[String: String]>([:])

        init(_ clock: TestClock = TestClock(), on server: PostgreSQLServer? = nil) throws {
            let server = try server ?? PostgreSQLServer.shared()
            self.server = server
            self.clock = clock
            database = try Self.makeDatabase(on: server)
        }

        private static func makeDatabase(on server: PostgreSQLServer) throws -> String {
            let name = server.newDatabaseName()
            let connection = try Connection(
                ConnectionOptions(address: server.address(of: "postgres")))
            _ = try connection.run("CREATE DATABASE \(name) TEMPLATE template0")
            return name
        }

        let followerChangesMax = 500

        /// How to reach the database, and the tables of stores in it.
        var connection: ConnectionOptions { options(database) }

        /// The same on the server's standby.
        var standbyConnection: ConnectionOptions {
            var options = connection
            options.address = server.standbyAddress(of: database)
            return options
        }

        /// How to reach the database of a folder, which is made for it.
        func connection(of folder: String) throws -> ConnectionOptions {
            try folders.withLock { folders in
                let name = try folders[folder] ?? Self.makeDatabase(on: server)
                folders[folder] = name
                return options(name)
            }
        }

        private func options(_ database: String) -> ConnectionOptions {
            var options = ConnectionOptions(address: server.address(of: database))
            options.settings = ["SET search_path = stores, public"]
            options.connectSecondsMax = 600
            return options
        }

        /// An engine as another process has it, on the database of a folder.
        func engine(
            _ folder: String = "a", _ change: (inout EngineOptions) -> Void = { _ in },
            settings: (inout PostgreSQLEngine.Settings) -> Void = { _ in }
        ) throws -> PostgreSQLEngine {
            var options = EngineOptions(
                clock: clock.clock,
                random: { count in (0..<count).map { _ in .random(in: 0...255) } },
                report: { _, _ in }, onIndeterminate: { _ in })
            change(&options)
            let opened = try factory(folder, settings).open(options)
            return try #require(opened as? PostgreSQLEngine)
        }

        func openPostgreSQLStore(
            named name: String = "store",
            _ change: (inout PostgreSQLStore.Options) -> Void = { _ in }
        ) throws -> PostgreSQLStore {
            var options = PostgreSQLStore.Options(
                connection: connection, clock: clock.clock,
                random: { count in (0..<count).map { _ in .random(in: 0...255) } })
            options.readersMax = 8
            // On a busy machine reads take long.
            options.snapshotSecondsMax = 600
            options.readerWaitSecondsMax = 600
            options.silenceSecondsMax = 600
            options.followerChangesMax = followerChangesMax
            options.connection.answerMillisecondsMax = 600_000
            change(&options)
            let store = try PostgreSQLStore(named: Array(name.utf8), options)
            open.withLock { $0.append(store) }
            return store
        }

        func openStore() throws -> any Store { try openPostgreSQLStore() }

        func close(_ store: any Store) {
            let closed = open.withLock { open in
                open.firstIndex { $0 === store }.map { open.remove(at: $0) }
            }
            closed?.close()
        }

        /// What a process leaves that ends without a word: the server finds its sessions gone.
        func openAfterCrash() throws -> (any Store)? {
            let connection = try Connection(
                ConnectionOptions(address: server.address(of: "postgres")))
            _ = try connection.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = convert_from($1, 'UTF8')::name
                """, .text(database))
            return try openStore()
        }

        func openBeside() throws -> (any Store)? { try openStore() }

        func openCatalog() throws -> any CatalogStorage {
            try PostgreSQLCatalog(connection)
        }

        func delete(_ container: ContainerID, from catalog: any CatalogStorage) throws {
            try (catalog as? PostgreSQLCatalog)?.delete(container)
        }

        /// With a database for each name, as each would have a server of its own.
        func factory(_ name: String) throws -> any EngineFactory {
            try factory(name) { _ in }
        }

        func factory(
            _ name: String, _ change: (inout PostgreSQLEngine.Settings) -> Void
        ) throws -> any EngineFactory {
            var connection = try connection(of: name)
            connection.answerMillisecondsMax = 600_000
            var settings = PostgreSQLEngine.Settings(connection)
            settings.sessionsMax = 12
            settings.sessionWaitSecondsMax = 600
            settings.snapshotSecondsMax = 600
            settings.silenceSecondsMax = 600
            change(&settings)
            return PostgreSQLEngineFactory(settings, place: "a test's database") { count in
                (0..<count).map { _ in .random(in: 0...255) }
            }
        }

        func problems() throws -> [String] {
            let store = try openPostgreSQLStore()
            defer { close(store) }
            return try store.problems()
        }

        func remove() {
            let stores = open.withLock { open in
                defer { open = [] }
                return open
            }
            for store in stores { store.close() }
            // NB: the server is gone with the test's process in any case.
            let connection = try? Connection(
                ConnectionOptions(address: server.address(of: "postgres")))
            for name in [database] + folders.withLock({ Array($0.values) }) {
                _ = try? connection?.run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
            }
        }
    }
#endif
