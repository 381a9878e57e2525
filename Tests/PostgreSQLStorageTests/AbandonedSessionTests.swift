#if PostgreSQL
    import Awaiting
    import CloudModel
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Testing

    @Suite("Sessions of processes that do not live any more")
    struct AbandonedSessionTests {
        private let location: PostgreSQLLocation
        private let engine: PostgreSQLEngine
        private let store: any EngineStore
        private let key: StoreKey
        private let user: UserRecordName

        init() throws {
            location = try PostgreSQLLocation()
            key = StoreKey(try #require(ContainerID("iCloud.Home")), .development)
            user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
            engine = try location.engine()
            try engine.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            store = try engine.open(key, notices: CommitNotices())
        }

        private func end() {
            _ = engine.close(key, isUnused: true)
            engine.close()
            location.remove()
        }

        /// A session of another process, which lives for so long from now on.
        private func session(of process: [UInt8], livesFor milliseconds: Int64) throws -> Connection
        {
            let options = try location.connection(of: "a")
            _ = try LivingProcesses(Connection(options)).renew(
                LivingProcess(identity: process, version: "", catalogVersion: .max),
                for: milliseconds)
            return try Connection(options.owned(by: process))
        }

        private func makeZone(_ text: String) throws {
            let name = try #require(ZoneName(text))
            _ = try store.writeAndWait { [user] in
                try $0.makeZone(named: name, ofOwnerNamed: user)
            }
        }

        /// Whether the server still has the session.
        private func isThere(_ session: Connection) -> Bool {
            (try? session.run("SELECT 1")) != nil
        }

        @Test("The counter that a dead process holds is free within seconds, and others write")
        func counter() throws {
            defer { end() }
            try makeZone("first")
            let dead = try session(of: [9, 0xab], livesFor: 0)
            let idle = try session(of: [9, 0xab], livesFor: 0)
            let queries = [Query("BEGIN"), Query("SELECT 1 FROM progress FOR UPDATE")]
            #expect(try dead.run(queries).last?.count == 1)
            try makeZone("second")
            #expect(!isThere(dead))
            // What holds nothing is there when the process wakes up.
            #expect(isThere(idle))
        }

        @Test(
            "The lock of a dead process's session is free within seconds, outside of transactions, too"
        )
        func advisory() throws {
            defer { end() }
            let dead = try session(of: [9], livesFor: 0)
            _ = try dead.run("SELECT pg_advisory_lock(7)")
            let other = try Connection(location.connection(of: "a"))
            _ = try other.run("SELECT pg_advisory_lock(7)")
            #expect(!isThere(dead))
        }

        @Test("What a process that lives has open is left alone")
        func living() throws {
            defer { end() }
            let living = try session(of: [8], livesFor: 600_000)
            _ = try living.run([Query("BEGIN"), Query("SELECT 1")])
            let dead = try session(of: [9], livesFor: 0)
            _ = try dead.run([Query("BEGIN"), Query("SELECT 1")])
            let watch = try Connection(location.connection(of: "a"))
            try Wait.until {
                try watch.run(
                    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'lenticular 09'"
                ).count == 0
            }
            #expect(isThere(living))
        }

        @Test("A process whose role may not end sessions does what one does for all, all the same")
        func refused() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let owner = try Connection(location.connection(of: "weak"))
            let database = try owner.run("SELECT current_database()").text(0, 0)
            let role = "weak_\(UInt32.random(in: 0...UInt32.max))"
            for statement in [
                "CREATE ROLE \(role)", "GRANT CREATE ON DATABASE \(database) TO \(role)",
                "GRANT CREATE ON SCHEMA public TO \(role)",
                "REVOKE EXECUTE ON FUNCTION pg_terminate_backend FROM PUBLIC",
            ] {
                _ = try owner.run(statement)
            }
            let engine = try location.engine(
                "weak",
                settings: { $0.connection.settings.append("SET ROLE \(role)") })
            defer { engine.close() }
            try Wait.until { engine.processes.leads }
        }
    }
#endif
