#if PostgreSQL
    import Awaiting
    import CloudModel
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

        /// A step that leaves a zone of a name, if it may.
        private static func step(
            _ name: String, _ lease: StepLease, in store: PostgreSQLStore
        ) throws {
            let user = try #require(user)
            let name = try #require(ZoneName(name))
            try store.writeAndWait { transaction in
                _ = try transaction.makeZone(named: name, ofOwnerNamed: user)
                try lease.check(for: long, in: transaction)
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
            "A lease has one holder; a step of one who was stopped too long is refused, and leaves nothing"
        )
        func fencing() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            // Two processes; the first is stopped once its lease has begun, which by then has ended.
            let stopped = try location.openPostgreSQLStore()
            let store = try location.openPostgreSQLStore()
            func take(
                _ holder: [UInt8], for milliseconds: Int64, in store: PostgreSQLStore
            ) throws -> StepLease? {
                try store.writeAndWait {
                    try StepLease.take("outbox", by: holder, for: milliseconds, in: $0)
                }
            }
            let first = try #require(try take(Self.one, for: Self.long, in: stopped))
            try Self.step("a", first, in: stopped)
            #expect(try take(Self.other, for: Self.long, in: store) == nil)
            // Its time is over, and nobody has taken it: it goes on.
            let ended = try #require(try take(Self.one, for: 0, in: stopped))
            #expect(ended.number > first.number)
            #expect(throws: StepLease.Lost()) { try Self.step("b", first, in: stopped) }
            try stopped.writeAndWait { try ended.check(for: 0, in: $0) }
            let second = try #require(try take(Self.other, for: Self.long, in: store))
            #expect(second.number > ended.number)
            // The first wakes up.
            #expect(throws: StepLease.Lost()) { try Self.step("c", ended, in: stopped) }
            try Self.step("d", second, in: store)
            #expect(try Self.zones(in: store) == ["a", "d"])
            // Another thing, and another store, are others' to do.
            let further = try stopped.writeAndWait {
                try StepLease.take("work", by: Self.one, in: $0)
            }
            #expect(further?.number == 1)
            // Who lets go makes room at once, and cannot go on.
            try store.writeAndWait { try second.end(in: $0) }
            let third = try #require(try take(Self.one, for: Self.long, in: stopped))
            #expect(throws: StepLease.Lost()) { try Self.step("e", second, in: store) }
            try Self.step("f", third, in: stopped)
            #expect(try Self.zones(in: store) == ["a", "d", "f"])
            #expect(try store.problems() == [])
        }

        @Test("A write that shares a group with a refused step is done all the same")
        func groups() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let store = try location.openPostgreSQLStore()
            let lost = try store.writeAndWait { transaction in
                let lease = try StepLease.take("outbox", by: Self.one, for: 0, in: transaction)
                _ = try StepLease.take("outbox", by: Self.other, in: transaction)
                return lease
            }
            let lease = try #require(lost)
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
            let stopped = try location.openPostgreSQLStore { $0.groupSilenceSecondsMax = 1 }
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
            let (a, b) = (process(Self.one, seeing: 5), process(Self.other, seeing: 4))
            #expect(try processes.renew(a, for: Self.long) == [a])
            let before = connection.roundTrips
            #expect(try processes.renew(b, for: Self.long) == [a, b])
            #expect(connection.roundTrips - before == 1)
            // Who has changed the catalog waits for one of both.
            #expect(try processes.behind(catalogVersion: 5) == [b])
            let seen = process(Self.other, seeing: 5)
            #expect(try processes.renew(seen, for: Self.long) == [a, seen])
            #expect(try processes.behind(catalogVersion: 5) == [])
            #expect(try processes.behind(catalogVersion: 6) == [a, seen])
            // One whose lease has ended is waited for by nobody, until it says a word again.
            _ = try processes.renew(seen, for: 0)
            #expect(try processes.renew(a, for: Self.long) == [a])
            #expect(try processes.behind(catalogVersion: 6) == [a])
            #expect(try processes.renew(seen, for: Self.long) == [a, seen])
            try processes.end(Self.one)
            #expect(try processes.renew(seen, for: Self.long) == [seen])
            // Long dead ones are forgotten.
            _ = try processes.renew(a, for: -2 * Self.long)
            _ = try processes.renew(seen, for: Self.long)
            let left = try connection.run("SELECT count(*) FROM catalog.processes")
            #expect(left.number(0, 0) == 1)
        }
    }
#endif
