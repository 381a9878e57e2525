#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import Synchronization
    import Testing

    @Suite("What ends on PostgreSQL while several processes serve")
    struct PostgreSQLEndsTests {
        private let location: PostgreSQLLocation
        private let key: StoreKey

        init() throws {
            location = try PostgreSQLLocation()
            key = StoreKey(try #require(ContainerID("iCloud.Home")), .development)
        }

        /// Two processes; the first has the container with a zone.
        private func engines() throws -> (PostgreSQLEngine, PostgreSQLEngine) {
            let (one, other) = (try location.engine(), try location.engine())
            try makeContainer(one)
            try makeZone("a", one)
            return (one, other)
        }

        /// A removal that its files end.
        private func failToRemove(_ engine: PostgreSQLEngine) {
            #expect(throws: StorageFailure.full) {
                try engine.remove(key.container) { _ in throw StorageFailure.full }
            }
        }

        private func makeContainer(_ engine: PostgreSQLEngine) throws {
            try engine.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
        }

        private func makeZone(_ name: String, _ engine: PostgreSQLEngine) throws {
            let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
            let name = try #require(ZoneName(name))
            let store = try engine.open(key, notices: CommitNotices())
            defer { _ = engine.close(key, isUnused: true) }
            _ = try store.writeAndWait { try $0.makeZone(named: name, ofOwnerNamed: user) }
        }

        private func zones(_ engine: PostgreSQLEngine) throws -> [String] {
            let store = try engine.open(key, notices: CommitNotices())
            defer { _ = engine.close(key, isUnused: true) }
            let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
            return try store.read { snapshot in
                guard let owner = try snapshot.owner(named: user) else { return [] }
                return try snapshot.zones(of: owner.number).map(\.name.text)
            }
        }

        private func count(_ table: String) throws -> Int64 {
            try Connection(location.connection(of: "a")).run("SELECT count(*) FROM \(table)")
                .number(0, 0)
        }

        // MARK: - Removals

        @Test("A container is made again once nothing of it is being removed any more")
        func removal() throws {
            defer { location.remove() }
            let (one, other) = try engines()
            try one.remove(key.container) { goesOn in
                try makeContainer(other)
                #expect(throws: StorageFailure.beginning) {
                    try other.open(key, notices: CommitNotices())
                }
                // Who starts meanwhile leaves it to this one.
                try other.recover { _, _ in Issue.record("two remove the same") }
                #expect(goesOn())
            }
            try makeZone("b", other)
            #expect(try zones(one) == ["b"])
            try one.recover { _, _ in Issue.record("the new one's files are not to go") }
            #expect(try count("stores") == 1)
        }

        @Test("What a removal has left of files is its name's next store's, which is made at once")
        func leftover() throws {
            defer { location.remove() }
            let (one, other) = try engines()
            failToRemove(one)
            try makeContainer(other)
            try makeZone("b", other)
            try one.recover { _, _ in Issue.record("the new one's files are not to go") }
            #expect(try zones(other) == ["b"])
            #expect(try count("stores") == 1)
        }

        @Test("A start finishes a removal while the container that is made again has no data")
        func recovery() throws {
            defer { location.remove() }
            let (one, other) = try engines()
            failToRemove(one)
            try makeContainer(one)
            var told: [StoreKey] = []
            try other.recover { key, goesOn in
                #expect(throws: StorageFailure.beginning) {
                    try one.open(key, notices: CommitNotices())
                }
                #expect(goesOn())
                told.append(key)
            }
            #expect(told == [key])
            #expect(try zones(one) == [])
        }

        @Test("What was on its way to a bucket when a container went is removed once it has come")
        func late() throws {
            defer { location.remove() }
            let moment = Mutex<Milliseconds>(1_000_000_000)
            let one = try location.engine { $0.clock = Clock { moment.withLock { $0 } } }
            try makeContainer(one)
            try makeZone("a", one)
            var told: [StoreKey] = []
            func recover() throws { try one.recover { key, _ in told.append(key) } }
            try one.remove(key.container) { _ in }
            try recover()
            #expect(told.isEmpty)
            moment.withLock { $0 += 2 * 3_600_000 }
            #expect(throws: (any Error).self) { try one.open(key, notices: CommitNotices()) }
            try recover()
            #expect(told == [key])
            try recover()
            #expect(try told == [key] && count("stores") == 0)
        }

        @Test("What has come late is left to a store that has been made by then, which finds it")
        func lateForNext() throws {
            defer { location.remove() }
            let moment = Mutex<Milliseconds>(1_000_000_000)
            let one = try location.engine { $0.clock = Clock { moment.withLock { $0 } } }
            try makeContainer(one)
            try makeZone("a", one)
            try one.remove(key.container) { _ in }
            try makeContainer(one)
            try makeZone("b", one)
            moment.withLock { $0 += 2 * 3_600_000 }
            try one.recover { _, _ in Issue.record("the new one's files are not to go") }
            #expect(try zones(one) == ["b"])
            #expect(try count("stores") == 1)
        }

        @Test("A process whose session has ended is told that its turn to remove is over")
        func lostTurn() throws {
            defer { location.remove() }
            let (one, other) = try engines()
            #expect(throws: StorageFailure.full) {
                try one.remove(key.container) { goesOn in
                    // As the eldest does with the sessions of one that was stopped.
                    _ = try Connection(location.connection(of: "a")).run(
                        """
                        SELECT pg_terminate_backend(l.pid) FROM pg_locks l
                        WHERE l.locktype = 'advisory' AND l.granted AND l.pid <> pg_backend_pid()
                            AND l.database = (
                                SELECT oid FROM pg_database WHERE datname = current_database())
                        """)
                    try makeContainer(other)
                    try makeZone("b", other)
                    #expect(!goesOn())
                    throw StorageFailure.full
                }
            }
            #expect(try zones(other) == ["b"])
        }

        // MARK: - Resets

        /// Runs a body whenever its engine asks for random bytes, once it is set.
        private final class Hook: Sendable {
            private let body = Mutex<(@Sendable () throws -> Void)?>(nil)

            func set(_ made: (@Sendable () throws -> Void)?) { body.withLock { $0 = made } }

            func bytes(_ count: Int) -> [UInt8] {
                let body = body.withLock { $0 }
                do { try body?() } catch { Issue.record(error) }
                return (0..<count).map { _ in .random(in: 0...255) }
            }
        }

        private let beginning = StoreBeginning(
            schema: Schema(), moment: 5, who: "test", difference: [])

        @Test("What another process starts with leaves the store alone that a reset is making")
        func reset() throws {
            defer { location.remove() }
            let hook = Hook()
            let one = try location.engine { $0.random = { hook.bytes($0) } }
            let other = try location.engine()
            try makeContainer(one)
            try makeZone("a", one)
            hook.set { try other.recover { _, _ in } }
            try one.reset(key, to: beginning)
            hook.set(nil)
            #expect(try zones(other) == [])
            try makeZone("b", one)
            #expect(try zones(other) == ["b"])
            // The reset has nothing open any more, and leaves nothing.
            #expect(try count("openings") == 0)
            try other.recover { _, _ in }
            #expect(try count("stores") == 1)
            #expect(try one.problems(of: .store(key), lossesSince: 0) == [])
        }

        @Test(
            "What a reset has made that ended with its process is removed; the store is as it was")
        func deadReset() throws {
            defer { location.remove() }
            let hook = Hook()
            let one = try location.engine { $0.random = { hook.bytes($0) } }
            let other = try location.engine()
            try makeContainer(one)
            try makeZone("a", one)
            hook.set { [location] in
                try LivingProcesses(Connection(location.connection(of: "a"))).end(one.process)
                try other.recover { _, _ in }
            }
            #expect(throws: (any Error).self) { try one.reset(key, to: beginning) }
            hook.set(nil)
            #expect(try zones(other) == ["a"])
            try other.recover { _, _ in }
            #expect(try count("stores") == 1)
            #expect(try other.problems(of: .catalog, lossesSince: 0) == [])
        }
    }
#endif
