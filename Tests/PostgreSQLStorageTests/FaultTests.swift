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

    @Suite("Faults of the database")
    struct FaultTests {
        private let location: PostgreSQLLocation

        init() throws { location = try PostgreSQLLocation() }

        /// A store whose sessions begin with a statement.
        private func fixture() throws -> GroupFixture {
            try GroupFixture(location) {
                $0.groups.fullProbeSeconds = 0
                $0.connection.settings.append("SET deadlock_timeout = '5s'")
            }
        }

        /// A state that the server gives once, and what the caller is told.
        struct Refusal: Sendable, CustomTestStringConvertible {
            let state: String
            let failure: StorageFailure

            var testDescription: String { state }

            static let all = [
                // A serialisation failure, a dead lock, a lock that was not had in time.
                Refusal(state: "40001", failure: .conflict),
                Refusal(state: "40P01", failure: .conflict),
                Refusal(state: "55P03", failure: .conflict),
                // A statement that took too long, a disk without room.
                Refusal(state: "57014", failure: .unavailable(.busy)),
                Refusal(state: "53100", failure: .full),
            ]
        }

        /// Has the server fail once, at a statement of a group or at its commit.
        private func fail(by state: String, at event: String) throws {
            let connection = try Connection(location.connection)
            try connection.run(
                script: """
                    CREATE SEQUENCE faults;
                    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN
                        -- A sequence stays where it is when a transaction is undone.
                        IF nextval('faults') = 1 THEN
                            RAISE EXCEPTION 'a fault of the test' USING ERRCODE = '\(state)';
                        END IF;
                        RETURN NULL;
                    END $$;
                    \(event) EXECUTE FUNCTION fail();
                    """)
        }

        /// One that nothing of the group has met before, one behind all of its rows, and its end.
        static let events = [
            "CREATE TRIGGER fails AFTER INSERT ON records FOR EACH ROW",
            "CREATE TRIGGER fails AFTER UPDATE ON progress FOR EACH ROW",
            """
            CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON records
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
            """,
        ]

        @Test(
            "A write that the server refuses is not there, says why, and the next one is done",
            arguments: Refusal.all, events)
        func refused(_ refusal: Refusal, _ event: String) throws {
            defer { location.remove() }
            let fixture = try fixture()
            try fixture.save(["before"])
            try fail(by: refusal.state, at: event)
            #expect(throws: refusal.failure) { try fixture.save(["a", "b"]) }
            #expect(try fixture.names() == 1)
            try fixture.save(["a", "b"])
            try fixture.save(["c"], foreseen: false)
            #expect(try fixture.names() == 4)
            #expect(try fixture.store.problems() == [])
        }

        @Test(
            "Of many records that the server is told of ahead none is there where it refuses one, and it says why",
            arguments: Refusal.all)
        func refusedAhead(_ refusal: Refusal) throws {
            defer { location.remove() }
            let fixture = try fixture()
            let names = (0..<450).map { "r\($0)" }
            try fail(by: refusal.state, at: Self.events[0])
            let done = DispatchGroup()
            let failures = Mutex<[StorageFailure?]>([])
            for part in [names.prefix(250), names.suffix(200)] {
                done.enter()
                fixture.write(Array(part)) { result in
                    if case .failure(let error) = result {
                        failures.withLock { $0.append(error as? StorageFailure) }
                    }
                    done.leave()
                }
            }
            #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
            #expect(failures.withLock { $0.contains(refusal.failure) })
            #expect(failures.withLock { $0.allSatisfy { $0 == refusal.failure } })
            try fixture.save(names)
            #expect(try fixture.names() == 450)
            #expect(try fixture.store.problems() == [])
        }

        @Test(
            "A group that says nothing to the server for too long is undone, and the next one is done"
        )
        func silentGroup() throws {
            defer { location.remove() }
            let options = location.connection
            #expect(PostgreSQLEngine.Settings(options).silenceSecondsMax == 15)
            let fixture = try GroupFixture(location) { $0.silenceSecondsMax = 5 }
            let wide = try #require(ZoneName("wide"))
            let user = try #require(GroupFixture.user)
            #expect(throws: StorageFailure.self) {
                try fixture.store.writeAndWait { transaction in
                    _ = try transaction.makeZone(named: wide, ofOwnerNamed: user)
                    let watch = try Connection(options)
                    try Wait.until {
                        try watch.run(
                            """
                            SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                                AND state = 'idle in transaction'
                            """
                        ).count == 0
                    }
                }
            }
            try fixture.save(["a"])
            #expect(try fixture.store.read { try $0.zone(named: wide, ofOwnerNamed: user) } == nil)
        }

        @Test("Of two who wait for each other one gives way, and both go on")
        func deadLock() throws {
            defer { location.remove() }
            let fixture = try fixture()
            try fixture.save(["a"])
            let (other, watch) = try (connect(), connect())
            // The group's session looks for it first.
            _ = try other.run("SET deadlock_timeout = '600s'")
            _ = try other.run("BEGIN")
            _ = try other.run("LOCK TABLE records IN SHARE MODE")
            let outcome = outcome(of: ["b"], fixture)
            try Wait.until { try watch.run("SELECT pid \(Self.whoWaits)").count > 0 }
            _ = try other.run("SELECT * FROM progress FOR UPDATE")
            #expect(try outcome.value() == .conflict)
            _ = try other.run("COMMIT")
            try fixture.save(["b", "c"])
            #expect(try fixture.names() == 3)
            #expect(try fixture.store.problems() == [])
        }

        /// By one that takes longer than `statement_timeout` allows PostgreSQL does the same.
        @Test(
            "A statement that the server ends is told to try again",
            arguments: [
                "progress", "records", "records IN SHARE MODE", "group_marks IN SHARE MODE",
            ])
        func ended(_ lock: String) throws {
            defer { location.remove() }
            let fixture = try fixture()
            try fixture.save(["a"])
            let (other, watch) = try (connect(), connect())
            _ = try other.run("BEGIN")
            _ = try other.run("LOCK TABLE \(lock)")
            let outcome = outcome(of: ["b"], fixture)
            try Wait.until {
                try watch.run("SELECT pg_cancel_backend(pid) \(Self.whoWaits)").count > 0
            }
            #expect(try outcome.value() == .unavailable(.busy))
            _ = try other.run("COMMIT")
            try fixture.save(["b", "c"])
            #expect(try fixture.names() == 3)
            #expect(try fixture.store.problems() == [])
        }

        /// The sessions of this database that wait for a lock.
        private static let whoWaits =
            "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

        /// What a save fails with that goes on by itself; nil where it does not.
        private func outcome(
            of names: [String], _ fixture: GroupFixture
        ) -> Awaited<StorageFailure?> {
            let outcome = Awaited<StorageFailure?>()
            fixture.write(names) { result in
                if case .failure(let error) = result {
                    outcome.tell(error as? StorageFailure)
                } else {
                    outcome.tell(nil)
                }
            }
            return outcome
        }

        /// Another client of the database.
        private func connect() throws -> Connection { try Connection(location.connection) }

        // MARK: - A connection that is cut

        /// What a save met whose connection was cut.
        struct Outcomes {
            var done = 0
            var refused = 0
        }

        /// Saves again and again, each time with the next message cut off that the save sends, until none is.
        private func cutEach(
            _ proxy: CuttingProxy, _ fixture: GroupFixture, foreseen: Bool, isNew: Bool
        ) throws -> Outcomes {
            var outcomes = Outcomes()
            for message in 0... {
                try fixture.save(["before\(message)"])
                // What the committer does behind an answer is no part of the next group.
                _ = fixture.store.groupRoundTrips
                if isNew { proxy.cutAll() }
                let cuts = proxy.cuts
                proxy.cut(beforeMessage: message)
                let names = ["a", "b", "c"].map { "\($0)\(message)" }
                let outcome = Result { try fixture.save(names, foreseen: foreseen) }
                _ = fixture.store.groupRoundTrips
                proxy.cut(beforeMessage: nil)
                guard proxy.cuts > cuts else {
                    try outcome.get()
                    return outcomes
                }
                let count = try Set(names).intersection(saved()).count
                switch outcome {
                case .success:
                    outcomes.done += 1
                    #expect(count == 3, "message \(message)")
                case .failure(let error):
                    guard case .unavailable(.unreachable) = error as? StorageFailure else {
                        throw error
                    }
                    outcomes.refused += 1
                    #expect(count == 0, "message \(message)")
                }
            }
            return outcomes
        }

        /// The names in the store, as the server has them.
        private func saved() throws -> [String] {
            let rows = try connect().run("SELECT name FROM records")
            return (0..<rows.count).map { rows.text($0, 0) }
        }

        @Test(
            "A group whose connection is cut at any message is done or not, as its answer says",
            arguments: [(true, false), (false, false), (true, true)])
        func cutConnection(foreseen: Bool, isNew: Bool) throws {
            defer { location.remove() }
            let server = try PostgreSQLServer.shared()
            let proxy = try CuttingProxy(before: server)
            let fixture = try GroupFixture(location) {
                $0.connection.address = $0.connection.address.replacing(
                    server.folder, with: proxy.folder)
            }
            try fixture.save(["first"], foreseen: foreseen)
            let outcomes = try cutEach(proxy, fixture, foreseen: foreseen, isNew: isNew)
            // Of a group's messages most come before its commit; behind that comes one more.
            #expect(outcomes.refused > 10)
            #expect(outcomes.done > 0)
            let saved = try saved()
            #expect(Set(saved).count == saved.count)
            #expect(try fixture.store.problems() == [])
        }
    }
#endif
