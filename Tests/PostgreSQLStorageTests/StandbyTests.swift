#if PostgreSQL
    import Awaiting
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("Standbys of the database, waited for or not")
    struct StandbyTests {
        /// A server whose commits wait, from now on, for a standby that is not there.
        private static func waitForNobody(_ server: PostgreSQLServer) throws -> Connection {
            let watch = try Connection(ConnectionOptions(address: server.address(of: "postgres")))
            try watch.run(script: "CREATE TABLE tried (number bigint)")
            try watch.run(script: "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            _ = try watch.run("SELECT pg_reload_conf()")
            // Commits wait from the moment at which a process of the server has read it.
            try Wait.until {
                _ = try watch.run([Query("BEGIN"), Query("INSERT INTO tried VALUES (1)")])
                watch.deadline = .now() + .milliseconds(200)
                defer { watch.deadline = nil }
                if case .indeterminate = watch.commit(after: []) { return true }
                return false
            }
            return watch
        }

        private static func waitForNone(_ watch: Connection) throws {
            try watch.run(script: "ALTER SYSTEM RESET synchronous_standby_names")
            _ = try watch.run("SELECT pg_reload_conf()")
        }

        private static let waiting = "wait_event = 'SyncRep' AND backend_type = 'client backend'"

        /// How a wait for a standby ends that does not come.
        static let ends = ["pg_cancel_backend", "pg_terminate_backend"]

        @Test(
            "A write of which no standby is known to have it is not acknowledged", arguments: ends)
        func indeterminate(_ end: String) throws {
            let server = try PostgreSQLServer(waitsForDisk: false)
            let fixture = try GroupFixture(PostgreSQLLocation(on: server)) {
                $0.connection.answerMillisecondsMax = 10_000
            }
            try fixture.save(["before"])
            let watch = try Self.waitForNobody(server)
            let outcome = Awaited<StorageFailure?>()
            fixture.write(["unknown"]) { result in
                if case .failure(let error) = result {
                    outcome.tell(error as? StorageFailure)
                } else {
                    outcome.tell(nil)
                }
            }
            try Wait.until {
                try watch.run(
                    "SELECT count(\(end)(pid)) FROM pg_stat_activity WHERE \(Self.waiting)"
                ).number(0, 0) > 0
            }
            #expect(try outcome.value() == .indeterminate)
            try Self.waitForNone(watch)
            try fixture.save(["after"])
            #expect(try fixture.names() == 3)
            #expect(try fixture.store.problems() == [])
        }

        @Test("A write whose wait for a standby is cut off is acknowledged once one has it")
        func settled() throws {
            let server = try PostgreSQLServer(waitsForDisk: false)
            let fixture = try GroupFixture(PostgreSQLLocation(on: server))
            try fixture.save(["before"])
            let watch = try Self.waitForNobody(server)
            let outcome = Awaited<Bool>()
            fixture.write(["a"]) { result in
                if case .success = result { outcome.tell(true) } else { outcome.tell(false) }
            }
            try Wait.until {
                try watch.run(
                    "SELECT count(*) FROM pg_stat_activity WHERE \(Self.waiting)"
                ).number(0, 0) > 0
            }
            let (told, lost) = try (
                watch.run(
                    "SELECT convert_to(query, 'UTF8') FROM pg_stat_activity WHERE \(Self.waiting)"
                ).text(0, 0),
                watch.run(
                    "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE \(Self.waiting)"
                ).number(0, 0)
            )
            #expect(told == "COMMIT")
            #expect(lost == 1)
            try Self.waitForNone(watch)
            #expect(try outcome.value())
            #expect(try fixture.names() == 2)
        }

        @Test(
            "A change of the catalog that no standby is known to have is not acknowledged, and ends no process"
        )
        func catalog() throws {
            let server = try PostgreSQLServer(waitsForDisk: false)
            let ends = Atomic(0)
            let engine = try PostgreSQLLocation(on: server).engine {
                $0.onIndeterminate = { _ in ends.add(1, ordering: .relaxed) }
            } settings: {
                $0.connection.answerMillisecondsMax = 10_000
            }
            defer { engine.close() }
            let watch = try Self.waitForNobody(server)
            let version = engine.catalog.version
            let unknown = ContainerRecord(
                id: try #require(ContainerID("iCloud.unknown")), createdAt: 1)
            #expect(throws: StorageFailure.indeterminate) { try engine.catalog.add(unknown) }
            let catalog = try #require(engine.catalog as? PostgreSQLCatalog)
            #expect(throws: StorageFailure.indeterminate) {
                try catalog.write(endsWhatWasTrue: true) { _ in }
            }
            #expect(engine.catalog.version != version)
            try Self.waitForNone(watch)
            let known = ContainerRecord(
                id: try #require(ContainerID("iCloud.known")), createdAt: 1)
            try engine.catalog.add(known)
            #expect(try engine.catalog.container(known.id) == known)
            #expect(ends.load(ordering: .relaxed) == 0)
        }

        @Test(
            "A server that was promoted since is asked for the mark of a change of the catalog, not for its number"
        )
        func catalogOnAnother() throws {
            let server = try PostgreSQLServer(waitsForDisk: false)
            let location = try PostgreSQLLocation(on: server)
            var options = location.connection
            options.address = Self.both(location, server)
            options.answerMillisecondsMax = 600_000
            let catalog = try PostgreSQLCatalog(options)
            try server.addStandby()
            let (primary, standby) = try (
                Connection(location.connection), Connection(location.standbyConnection)
            )
            try Self.cutOff(standby, from: primary)
            let watch = try Self.waitForNobody(server)
            func container(_ name: String) throws -> ContainerRecord {
                ContainerRecord(id: try #require(ContainerID("iCloud.\(name)")), createdAt: 1)
            }
            let (lost, next) = try (container("lost"), container("next"))
            let outcome = Awaited<Result<Void, any Error>>()
            DispatchQueue.global().async { outcome.tell(Result { try catalog.add(lost) }) }
            var number: Int64 = 0
            try Wait.until {
                let rows = try watch.run(
                    """
                    SELECT backend_xid::text::bigint FROM pg_stat_activity
                    WHERE \(Self.waiting) AND backend_xid IS NOT NULL
                    """)
                if rows.count == 1 { number = rows.number(0, 0) }
                return number > 0
            }
            try server.promoteStandby()
            // There another transaction has its number, and is committed.
            try Wait.until {
                try standby.run("SELECT pg_current_xact_id()::text::bigint").number(0, 0) > number
            }
            try server.stop()
            let failure = #expect(throws: StorageFailure.self) { try outcome.value().get() }
            #expect(failure != .indeterminate)
            #expect(try catalog.container(lost.id) == nil)
            try catalog.add(next)
            #expect(try catalog.container(next.id) == next)
        }

        // MARK: - A standby that lacks commits

        /// How a process reaches whichever server takes writes.
        private static func both(
            _ location: PostgreSQLLocation, _ server: PostgreSQLServer
        ) -> String {
            location.connection.address.replacing(
                "host=\(server.folder)",
                with: "host=\(server.folder),\(server.folder)/standby-socket")
                + " target_session_attrs=read-write"
        }

        /// Has the standby get nothing any more of what is committed from now on.
        private static func cutOff(_ standby: Connection, from primary: Connection) throws {
            let here = try primary.run("SELECT convert_to(pg_current_wal_lsn()::text, 'UTF8')")
                .text(0, 0)
            try Wait.until {
                try standby.run("SELECT pg_last_wal_replay_lsn() >= '\(here)'").number(0, 0) != 0
            }
            try standby.run(script: "ALTER SYSTEM SET primary_conninfo = ''")
            _ = try standby.run("SELECT pg_reload_conf()")
            try Wait.until {
                try standby.run("SELECT count(*) FROM pg_stat_wal_receiver").number(0, 0) == 0
            }
        }

        @Test("A session that is to write does not begin with a standby")
        func writing() throws {
            let server = try PostgreSQLServer()
            try server.addStandby()
            var options = ConnectionOptions(address: server.standbyAddress(of: "postgres"))
            _ = try Connection(options)
            options.takesStandby = false
            let failure = #expect(throws: PostgreSQLError.self) { _ = try Connection(options) }
            #expect(failure?.kind == .readOnly && failure?.endsSession == true)
            try server.promoteStandby()
            _ = try Connection(options)
        }

        @Test(
            "A standby that lacked commits goes on from what it has: later tokens expire, no number comes again"
        )
        func promotion() throws {
            let server = try PostgreSQLServer()
            let location = try PostgreSQLLocation(on: server)
            let both = Self.both(location, server)
            let fixture = try GroupFixture(location) {
                $0.connection.address = both
                $0.connection.connectSecondsMax = 5
            }
            try fixture.save(["a", "b"])
            try server.addStandby()
            try fixture.save(["c"])
            let before = try fixture.store.identity
            let (primary, standby) = try (
                Connection(location.connection),
                Connection(
                    ConnectionOptions(
                        address: location.connection.address.replacing(
                            server.folder, with: "\(server.folder)/standby-socket")))
            )
            try Self.cutOff(standby, from: primary)
            for number in 0..<20 { try fixture.save(["lost\(number)", "c"]) }
            let beyond = try fixture.store.identity
            #expect(beyond.last > before.last && beyond.incarnation == before.incarnation)
            try server.stop()
            try server.promoteStandby()
            let other = try location.openPostgreSQLStore {
                $0.connection.address = both
            }
            #expect(try other.identity.knows(before.incarnation, through: before.last))
            #expect(try !other.identity.knows(beyond.incarnation, through: beyond.last))
            #expect(try fixture.names() == 3)
            try fixture.save(["d", "lost0"])
            for store in [fixture.store, other] {
                let after = try store.identity
                #expect(after.incarnation != before.incarnation)
                #expect(after.previous == before.incarnation)
                #expect(after.knows(before.incarnation, through: before.last))
                #expect(!after.knows(before.incarnation, through: before.last + 1))
                #expect(!after.knows(beyond.incarnation, through: beyond.last))
                // Of what is new nothing has a number that was given out before.
                var positions: [Position] = []
                try store.read { snapshot in
                    try snapshot.versions(
                        in: fixture.zone.number, after: before.last, through: .max,
                        newestFirst: false
                    ) {
                        positions.append($0.position)
                        return true
                    }
                }
                #expect(positions.count == 2)
                #expect(positions.allSatisfy { $0 > beyond.last })
            }
            #expect(try fixture.names() == 5)
            #expect(try fixture.store.problems() == [])
        }
    }
#endif
