#if PostgreSQL
    import Awaiting
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import Synchronization
    import Testing

    @Suite("Databases that are there for a while")
    struct ScratchDatabaseTests {
        private let options: ConnectionOptions
        private let admin: Connection

        init() throws {
            let server = try PostgreSQLServer.shared()
            let home = server.newDatabaseName()
            try Connection(ConnectionOptions(address: server.address(of: "postgres")))
                .run(script: "CREATE DATABASE \(home) TEMPLATE template0")
            options = ConnectionOptions(
                address: "postgresql:///\(home)?host=\(server.folder)&user=postgres")
            admin = try Connection(options)
        }

        /// How many there are beside the test's own.
        private func count() throws -> Int {
            try admin.run(
                """
                SELECT 1 FROM pg_database WHERE starts_with(datname::text, 'scratch_lenticular_'
                    || (SELECT oid::text FROM pg_database WHERE datname = current_database()))
                """
            ).count
        }

        @Test(
            "Many that are made and removed at once are each there until their maker removes them")
        func manyAtOnce() throws {
            let failures = Mutex<[String]>([])
            let options = options
            DispatchQueue.concurrentPerform(iterations: 16) { number in
                do {
                    let made = try ScratchDatabase(beside: options, suffix: "n\(number)")
                    defer { made.remove() }
                    var inside = options
                    inside.address = ScratchDatabase.url(options.address, of: made.name)
                    _ = try Connection(inside).run("SELECT 1")
                } catch { failures.withLock { $0.append("\(error)") } }
            }
            #expect(failures.withLock { $0 } == [])
            #expect(try count() == 0)
        }

        @Test("Who makes one waits until nobody else makes or removes one")
        func turns() throws {
            let lock = Value.number(ScratchDatabase.turnLock)
            _ = try admin.run("SELECT pg_advisory_lock($1)", lock)
            let (made, options) = (Awaited<String>(), options)
            DispatchQueue.global().async {
                // NB: what fails is not told below.
                guard let database = try? ScratchDatabase(beside: options, suffix: "a") else {
                    return
                }
                database.remove()
                made.tell(database.name)
            }
            try Wait.until {
                try admin.run(
                    """
                    SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                        AND database = (
                            SELECT oid FROM pg_database WHERE datname = current_database())
                    """
                ).count == 1
            }
            #expect(try count() == 0)
            _ = try admin.run("SELECT pg_advisory_unlock($1)", lock)
            #expect(try made.value().hasSuffix("_a"))
        }
    }
#endif
