#if PostgreSQL
    import Awaiting
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Testing

    @Suite("Processes on one database and what they hold")
    struct LeaseTests {
        private static let user = UserRecordName("_00000000000000000000000000000001")
        private static let (one, other): ([UInt8], [UInt8]) = ([1], [2])
        /// Longer than any test takes.
        private static let long: Int64 = 86_400_000

        /// Processes that have one store open, which they share.
        private struct Processes {
            let location: PostgreSQLLocation
            let store: PostgreSQLStore
            let connection: Connection

            init() throws {
                location = try PostgreSQLLocation()
                store = try location.openPostgreSQLStore()
                _ = try location.openCatalog()
                connection = try Connection(location.connection)
            }

            /// Has a process live for a time; one that has none is taken for dead.
            func live(_ identity: [UInt8], for milliseconds: Int64 = long) throws {
                let process = LivingProcess(identity: identity, version: "", catalogVersion: 1)
                _ = try LivingProcesses(connection).renew(process, for: milliseconds)
            }

            func take(_ holder: [UInt8], _ duty: StoreDuty = .outbox) throws -> StepLease? {
                try StepLease.take(duty, of: number(), by: holder, connection)
            }

            func number() throws -> Int64 {
                try connection.run("SELECT store FROM stores").number(0, 0)
            }
        }

        /// A step that leaves a zone of a name, if it may.
        private static func step(
            _ name: String, _ lease: StepLease, in store: PostgreSQLStore
        ) throws {
            let user = try #require(user)
            let name = try #require(ZoneName(name))
            try store.writeAndWait { transaction in
                _ = try transaction.makeZone(named: name, ofOwnerNamed: user)
                try lease.check(in: transaction)
            }
        }

        private static func zones(in store: PostgreSQLStore) throws -> [String] {
            let user = try #require(user)
            return try store.read { snapshot in
                guard let owner = try snapshot.owner(named: user) else { return [] }
                return try snapshot.zones(of: owner.number, .living).map(\.name.text)
            }
        }

        @Test(
            "A lease has one holder that lives; a step of one who was stopped is refused, and leaves nothing"
        )
        func fencing() throws {
            let processes = try Processes()
            defer { processes.location.remove() }
            // Two processes; the first is stopped once it has its lease.
            let stopped = processes.store
            let store = try processes.location.openPostgreSQLStore()
            try processes.live(Self.one)
            try processes.live(Self.other)
            let first = try #require(try processes.take(Self.one))
            try Self.step("a", first, in: stopped)
            #expect(try processes.take(Self.other) == nil)
            #expect(try processes.take(Self.one) == first)
            // It is taken for dead, and nobody has taken over: it goes on.
            try processes.live(Self.one, for: 0)
            try Self.step("b", first, in: stopped)
            let second = try #require(try processes.take(Self.other))
            #expect(second.number > first.number)
            // The first wakes up, and lives again.
            try processes.live(Self.one)
            #expect(throws: StoreLease.Lost()) { try Self.step("c", first, in: stopped) }
            #expect(try processes.take(Self.one) == nil)
            try Self.step("d", second, in: store)
            #expect(try Self.zones(in: store) == ["a", "b", "d"])
            // Another duty is another's to do.
            #expect(try processes.take(Self.one, .work)?.number == 1)
            // Who lets go makes room at once, and cannot go on once another has it.
            try StepLease.end(
                of: processes.number(), by: Self.other, processes.connection)
            let third = try #require(try processes.take(Self.one))
            #expect(throws: StoreLease.Lost()) { try Self.step("e", second, in: store) }
            try Self.step("f", third, in: stopped)
            #expect(try Self.zones(in: store) == ["a", "b", "d", "f"])
            #expect(try store.problems() == [])
        }

        @Test("Nobody takes a lease over before a step that has checked it is done")
        func stepUnderWay() throws {
            let processes = try Processes()
            defer { processes.location.remove() }
            let lease = try #require(try processes.take(Self.one))
            let (begun, goesOn) = (Awaited<Bool>(), Awaited<Bool>())
            let isDone = Awaited<Bool>()
            processes.store.write(WriteLoad()) { transaction in
                try lease.check(in: transaction)
                begun.tell(true)
                _ = try goesOn.value()
            } completion: { result in
                if case .success = result { isDone.tell(true) } else { isDone.tell(false) }
            }
            _ = try begun.value()
            let options = processes.location.connection
            let number = try processes.number()
            let taken = Awaited<Int64>()
            DispatchQueue.global().async {
                // NB: what fails is told by no number.
                let connection = try? Connection(options)
                let found = try? connection.map {
                    try StepLease.take(.outbox, of: number, by: Self.other, $0)
                }
                taken.tell(found??.number ?? -1)
            }
            try Wait.until {
                // NB: one that cannot be asked is asked again.
                let waiting = try? processes.connection.run(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE wait_event_type = 'Lock' AND datname = current_database()
                    """)
                return waiting?.number(0, 0) == 1
            }
            goesOn.tell(true)
            #expect(try isDone.value())
            #expect(try taken.value() > lease.number)
        }

        @Test("A write that shares a group with a refused step is done all the same")
        func groups() throws {
            let processes = try Processes()
            defer { processes.location.remove() }
            let store = processes.store
            let lease = try #require(try processes.take(Self.one))
            _ = try #require(try processes.take(Self.other))
            let user = try #require(Self.user)
            let name = try #require(ZoneName("kept"))
            let failures = Awaited<Int>()
            let done = Awaited<Bool>()
            store.write(WriteLoad()) { transaction in
                try lease.check(in: transaction)
            } completion: { result in
                if case .failure = result { failures.tell(1) } else { failures.tell(0) }
            }
            store.write(WriteLoad()) { transaction in
                _ = try transaction.makeZone(named: name, ofOwnerNamed: user)
            } completion: { result in
                if case .success = result { done.tell(true) } else { done.tell(false) }
            }
            #expect(try failures.value() == 1)
            #expect(try done.value())
            #expect(try Self.zones(in: store) == ["kept"])
        }

        @Test(
            "A process that is stopped in a group holds nobody up for long, and its group is undone"
        )
        func stoppedInGroup() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let stopped = try location.openPostgreSQLStore { $0.silenceSecondsMax = 1 }
            let store = try location.openPostgreSQLStore()
            let user = try #require(Self.user)
            let (lost, kept) = (try #require(ZoneName("lost")), try #require(ZoneName("kept")))
            let (begun, goesOn) = (Awaited<Bool>(), Awaited<Bool>())
            let isWritten = Awaited<Bool>()
            stopped.write(WriteLoad()) { transaction in
                _ = try transaction.makeZone(named: lost, ofOwnerNamed: user)
                begun.tell(true)
                _ = try goesOn.value()
            } completion: { result in
                if case .success = result { isWritten.tell(true) } else { isWritten.tell(false) }
            }
            _ = try begun.value()
            try store.writeAndWait { _ = try $0.makeZone(named: kept, ofOwnerNamed: user) }
            goesOn.tell(true)
            #expect(try !isWritten.value())
            #expect(try Self.zones(in: stopped) == ["kept"])
            try store.writeAndWait { _ = try $0.makeZone(named: lost, ofOwnerNamed: user) }
            #expect(try Self.zones(in: store) == ["kept", "lost"])
            #expect(try store.problems() == [])
        }

        @Test(
            "Who lives is told by leases and by the server's clock; one statement renews and tells")
        func living() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            _ = try location.openCatalog()
            let connection = try Connection(location.connection)
            let processes = LivingProcesses(connection)
            func process(_ identity: [UInt8], seeing version: Int64) -> LivingProcess {
                LivingProcess(identity: identity, version: "1.0\u{0}", catalogVersion: version)
            }
            /// Without when they were heard of.
            func plain(_ found: [LivingProcess]) -> [LivingProcess] {
                found.map {
                    LivingProcess(
                        identity: $0.identity, version: $0.version,
                        catalogVersion: $0.catalogVersion)
                }
            }
            let (a, b) = (process(Self.one, seeing: 5), process(Self.other, seeing: 4))
            #expect(try plain(processes.renew(a, for: Self.long)) == [a])
            let before = connection.roundTrips
            #expect(try plain(processes.renew(b, for: Self.long)) == [a, b])
            #expect(connection.roundTrips - before == 1)
            // Who has changed the catalog waits for one of both.
            #expect(try plain(processes.behind(catalogVersion: 5)) == [b])
            let seen = process(Self.other, seeing: 5)
            #expect(try plain(processes.renew(seen, for: Self.long)) == [a, seen])
            #expect(try plain(processes.behind(catalogVersion: 5)) == [])
            #expect(try plain(processes.behind(catalogVersion: 6)) == [a, seen])
            // One whose lease has ended is waited for by nobody, until it says a word again.
            _ = try processes.renew(seen, for: 0)
            #expect(try plain(processes.renew(a, for: Self.long)) == [a])
            #expect(try plain(processes.behind(catalogVersion: 6)) == [a])
            #expect(try plain(processes.renew(seen, for: Self.long)) == [a, seen])
            try processes.end(Self.one)
            #expect(try plain(processes.renew(seen, for: Self.long)) == [seen])
            // Long dead ones are forgotten.
            _ = try processes.renew(a, for: -2 * Self.long)
            _ = try processes.renew(seen, for: Self.long)
            let left = try connection.run("SELECT count(*) FROM catalog.processes")
            #expect(left.number(0, 0) == 1)
        }
    }
#endif
