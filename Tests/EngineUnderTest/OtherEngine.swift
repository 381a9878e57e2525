import CloudModel
import Foundation
import Storage

#if PostgreSQL
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
#endif

/// The engine that the variable TEST_ENGINE names in place of the usual one, with data of its own for one server of a test.
package final class OtherEngine: Sendable {
    package struct IsUnknown: Error {
        package let name: String
    }

    package let engine: any StorageEngine
    /// Changes a bit of the records of a name behind the engine's back, as a disk that decays does.
    package let damage: @Sendable (_ name: String) throws -> Void
    private let removeData: @Sendable () -> Void

    private init(
        _ engine: any StorageEngine, damage: @escaping @Sendable (_ name: String) throws -> Void,
        removeData: @escaping @Sendable () -> Void
    ) {
        self.engine = engine
        self.damage = damage
        self.removeData = removeData
    }

    /// Nil where the variable names none.
    package static func open(
        clock: Clock, random: @escaping @Sendable (Int) -> [UInt8]
    ) throws -> OtherEngine? {
        guard let name = ProcessInfo.processInfo.environment["TEST_ENGINE"] else { return nil }
        #if PostgreSQL
            if name == "postgres" {
                return try processes(1, clock: clock, random: random)[0]
            }
        #endif
        throw IsUnknown(name: name)
    }

    /// Closes it and removes what it has kept; all stores must be closed.
    package func end() {
        engine.close()
        removeData()
    }

    #if PostgreSQL
        /// How many groups of writes a store has committed, and how many times these have waited for the server; nil of
        /// another engine.
        package static func groups(of store: any EngineStore) -> (count: Int, roundTrips: Int)? {
            guard let store = store as? PostgreSQLStore else { return nil }
            let roundTrips = store.groupRoundTrips
            return (Int(store.measurements.commits), roundTrips)
        }

        /// Engines of so many processes on one PostgreSQL database; the first is to be ended last.
        package static func processes(
            _ count: Int, clock: Clock, random: @escaping @Sendable (Int) -> [UInt8]
        ) throws -> [OtherEngine] {
            let server = try PostgreSQLServer.shared()
            let name = server.newDatabaseName()
            let admin = ConnectionOptions(address: server.address(of: "postgres"))
            try Connection(admin).run(script: "CREATE DATABASE \(name) TEMPLATE template0")
            var connection = ConnectionOptions(address: server.address(of: name))
            // On a busy machine everything takes long.
            connection.answerMillisecondsMax = 600_000
            let options = connection
            var settings = PostgreSQLEngine.Settings(options)
            settings.sessionsMax = 16
            settings.sessionWaitSecondsMax = 600
            settings.snapshotSecondsMax = 600
            let factory = PostgreSQLEngineFactory(settings, place: name, random: random)
            return try (0..<count).map { number in
                let engine = try factory.open(
                    EngineOptions(
                        clock: clock, random: random, report: { _, _ in },
                        onIndeterminate: { _ in }))
                return OtherEngine(
                    engine,
                    damage: { name in
                        _ = try Connection(options).run(
                            """
                            UPDATE stores.records SET body = set_byte(body, 0, get_byte(body, 0) # 1)
                            WHERE name = $1
                            """, .text(name))
                    }
                ) {
                    guard number == 0 else { return }
                    // NB: the server is gone with the test's process in any case.
                    try? Connection(admin).run(
                        script: "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
                }
            }
        }
    #endif
}
