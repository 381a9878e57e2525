#if PostgreSQL
    import Awaiting
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("Several processes on one database")
    struct ProcessTests {
        private let location: PostgreSQLLocation
        private let key: StoreKey
        private let user: UserRecordName

        init() throws {
            location = try PostgreSQLLocation()
            key = StoreKey(try #require(ContainerID("iCloud.Home")), .development)
            user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
        }

        /// Processes that have the store open.
        private func engines(_ count: Int) throws -> [PostgreSQLEngine] {
            let engines = try (0..<count).map { _ in try location.engine() }
            try engines[0].catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            return engines
        }

        private func serverKey(_ number: Int) throws -> ServerKeyRecord {
            let digits = String(number, radix: 16)
            return ServerKeyRecord(
                keyID: String(repeating: "0", count: 64 - digits.count) + digits, name: nil,
                container: key.container, environment: .development, publicKeyDER: [1, 2, 3],
                scope: .public, userRecordName: user, createdAt: 1)
        }

        private func end(_ engines: [PostgreSQLEngine]) {
            for engine in engines {
                _ = engine.close(key, isUnused: true)
                engine.close()
            }
            location.remove()
        }

        @Test("Processes see each other from their start to their end")
        func living() throws {
            let engines = try engines(2)
            defer { end(engines) }
            let connection = try Connection(location.connection(of: "a"))
            let processes = LivingProcesses(connection)
            #expect(try Set(processes.living().map(\.identity)) == Set(engines.map(\.process)))
            engines[0].close()
            #expect(try processes.living().map(\.identity) == [engines[1].process])
        }

        @Test("Who waits by one process is told of what another has committed")
        func waiting() throws {
            let engines = try engines(2)
            defer { end(engines) }
            let stores = try engines.map { try $0.open(key, notices: CommitNotices()) }
            let told = Awaited<Bool>()
            stores[1].notices.watch([.anything]).whenMoved { _ in told.tell(true) }
            let name = try #require(ZoneName("shelf"))
            _ = try stores[0].writeAndWait { [user] in
                try $0.makeZone(named: name, ofOwnerNamed: user)
            }
            #expect(try told.value())
        }

        @Test(
            "What one process has ended in the catalog, no other takes for true any more")
        func catalogVersion() throws {
            let engines = try engines(3)
            defer { end(engines) }
            for number in 0..<60 {
                let versions = engines.map(\.catalog.version)
                let record = try serverKey(number)
                try engines[number % 3].catalog.add(record)
                for (engine, version) in zip(engines, versions) {
                    #expect(engine.catalog.version != version)
                }
            }
        }

        @Test(
            "A process whose lease has ended keeps nobody waiting, and trusts nothing that it kept")
        func lapsed() throws {
            let engines = try engines(2)
            defer { end(engines) }
            let connection = try Connection(location.connection(of: "a"))
            // Nobody renews it any more, as if it was stopped.
            engines[1].close()
            let version = engines[1].catalog.version
            #expect(engines[1].catalog.version != version)
            _ = try LivingProcesses(connection).renew(
                LivingProcess(identity: [9], version: "", catalogVersion: 0), for: 0)
            try engines[0].catalog.add(serverKey(1))
            #expect(try LivingProcesses(connection).living().count == 1)
        }

        @Test("A process whose machine was suspended trusts nothing that it kept")
        func suspended() throws {
            // Between any two looks at the clock the machine sleeps for longer than a lease.
            let looks = Atomic<UInt64>(0)
            let asleep = try location.engine(settings: { settings in
                settings.leaseClock = {
                    looks.wrappingAdd(6_000_000_000, ordering: .relaxed).newValue
                }
            })
            let awake = try location.engine(settings: { $0.leaseClock = { 1 } })
            defer { end([asleep, awake]) }
            let (first, other) = (asleep.catalog.version, awake.catalog.version)
            #expect(asleep.catalog.version != first)
            #expect(!asleep.processes.leads)
            #expect(awake.catalog.version == other)
        }

        @Test("A lease counts from before the look at the catalog that goes with it")
        func slowLook() throws {
            let now = Atomic<UInt64>(0)
            let engine = try location.engine(settings: { settings in
                settings.leaseClock = { now.load(ordering: .relaxed) }
            })
            let options = try location.connection(of: "a")
            let (first, second, watch) = try (
                Connection(options), Connection(options), Connection(options)
            )
            defer {
                // NB: what a test that fails has left locked would hold up the engine's end.
                for session in [first, second] { _ = try? session.run("ROLLBACK") }
                end([engine])
            }
            let table = "catalog.catalog_version"
            let lock = [Query("BEGIN"), Query("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")]
            let process = try second.run("SELECT pg_backend_pid()::bigint").number(0, 0)
            /// Whether a look waits, and the second lock is had or waits before it.
            func looks(whileLocked isLocked: Bool) throws -> Bool {
                let rows = try watch.run(
                    """
                    SELECT count(*) FILTER (WHERE mode = 'AccessShareLock' AND NOT granted),
                        count(*) FILTER (WHERE pid = $1 AND granted = \(isLocked))
                    FROM pg_locks WHERE relation = '\(table)'::regclass
                    """, .number(process))
                return rows.number(0, 0) == 1 && rows.number(0, 1) == 1
            }
            _ = try first.run(lock)
            try Wait.until {
                try watch.run(
                    "SELECT 1 FROM pg_locks WHERE relation = '\(table)'::regclass AND NOT granted"
                ).count == 1
            }
            // Behind the look that waits, and before the next one.
            try second.runLater(lock)
            try Wait.until { try looks(whileLocked: false) }
            now.add(4_000_000_000, ordering: .relaxed)
            try first.rollBack()
            try Wait.until { try looks(whileLocked: true) }
            now.add(2_000_000_000, ordering: .relaxed)
            let version = engine.catalog.version
            #expect(engine.catalog.version != version)
        }

        @Test("Who lives and does not know a migration is found by what each says that it knows")
        func outdated() throws {
            let engines = try engines(1)
            defer { end(engines) }
            let connection = try Connection(location.connection(of: "a"))
            var process = LivingProcess(
                identity: [0x9, 0xab], version: "0.9", catalogVersion: 1)
            process.migrations = KnownMigrations("catalog=0 stores=1")
            _ = try LivingProcesses(connection).renew(process)
            func outdated(_ schema: String, _ knownMin: Int) throws -> [String] {
                try KnownMigrations.outdated(connection, schema, knownMin)
            }
            #expect(try outdated("catalog", 0) == [])
            #expect(try outdated("catalog", 1) == ["09ab (0.9)"])
            #expect(try outdated("logs", 1) == ["09ab (0.9)"])
            #expect(try outdated("stores", 1) == [])
            #expect(try outdated("stores", 1_000).count == 2)
        }

        @Test("64 guesses at once at three processes are as many as one after the other at one")
        func guesses() throws {
            let engines = try engines(3)
            defer { end(engines) }
            let counts = try engines.map { try #require($0.catalog as? any GuessCounts) }
            let admitted = Mutex(0)
            let failure = Mutex<(any Error)?>(nil)
            DispatchQueue.concurrentPerform(iterations: 64) { number in
                do {
                    let isAdmitted = try counts[number % 3].change([7, 90_000]) { counts in
                        guard counts.allSatisfy({ $0.count < 5 }) else { return false }
                        for index in counts.indices {
                            counts[index].count += 1
                            counts[index].lastAt = 1
                        }
                        return true
                    }
                    if isAdmitted { admitted.withLock { $0 += 1 } }
                } catch { failure.withLock { $0 = error } }
            }
            #expect(failure.withLock { $0 } == nil)
            #expect(admitted.withLock { $0 } == 5)
            let seen = try counts[0].change([90_000, 8, 7]) { $0 }
            let five = GuessCount(count: 5, lastAt: 1)
            #expect(seen == [five, GuessCount(), five])
        }

        @Test("A read that begins after another process has acknowledged a save sees it")
        func readYourWrite() throws {
            let engines = try engines(2)
            defer { end(engines) }
            let stores = try engines.map { try $0.open(key, notices: CommitNotices()) }
            let stale = Mutex(0)
            let failure = Mutex<(any Error)?>(nil)
            DispatchQueue.concurrentPerform(iterations: 4) { pair in
                for number in 0..<500 {
                    let writer = stores[(pair + number) % 2]
                    let reader = stores[(pair + number + 1) % 2]
                    do {
                        guard try !pass("z\(pair)-\(number)", from: writer, to: reader) else {
                            continue
                        }
                        stale.withLock { $0 += 1 }
                    } catch { failure.withLock { $0 = error } }
                }
            }
            if let failure = failure.withLock({ $0 }) { throw failure }
            #expect(stale.withLock { $0 } == 0)
        }

        /// Whether one process has a zone at once that another has made.
        private func pass(
            _ text: String, from writer: any EngineStore, to reader: any EngineStore
        ) throws -> Bool {
            let name = try #require(ZoneName(text))
            _ = try writer.writeAndWait { [user] in
                try $0.makeZone(named: name, ofOwnerNamed: user)
            }
            return try reader.read { try $0.zone(named: name, ofOwnerNamed: user) != nil }
        }

        @Test("A schema that one process has changed, another goes by at once")
        func schema() throws {
            let engines = try engines(2)
            defer { end(engines) }
            let stores = try engines.map { try $0.open(key, notices: CommitNotices()) }
            for number in 0..<40 {
                let type = try #require(RecordTypeName("Type\(number)"))
                try stores[number % 2].writeAndWait { transaction in
                    var schema = try transaction.schema
                    schema.types[type] = Schema.RecordType()
                    try transaction.replaceSchema(by: schema, who: "test", difference: ["+"])
                }
                #expect(try stores[(number + 1) % 2].schema.types[type] != nil)
            }
        }

        @Test("One process has a duty until it closes the store or ends")
        func duties() throws {
            let engines = try engines(2)
            defer { end(engines) }
            let stores = try engines.map { try $0.open(key, notices: CommitNotices()) }
            let first = try #require(try stores[0].hold(.outbox))
            #expect(try stores[1].hold(.outbox) == nil)
            #expect(try stores[1].hold(.notices) != nil)
            try stores[0].writeAndWait { try first.check(in: $0) }
            _ = engines[0].close(key, isUnused: true)
            let second = try #require(try stores[1].hold(.outbox))
            let again = try engines[0].open(key, notices: CommitNotices())
            #expect(throws: StoreLease.Lost()) {
                try again.writeAndWait { try first.check(in: $0) }
            }
            #expect(try again.hold(.outbox) == nil)
            // As one that was killed, once its time is over.
            engines[1].close()
            #expect(try again.hold(.outbox) != nil)
            #expect(throws: StoreLease.Lost()) {
                try stores[1].writeAndWait { try second.check(in: $0) }
            }
        }

        @Test("The eldest process does what one does for all, and the next after its end")
        func leading() throws {
            let engines = try engines(2)
            defer { end(engines) }
            try Wait.until { engines.allSatisfy { $0.processes.count == 2 } }
            let eldest = try #require(engines.firstIndex { $0.processes.leads })
            let other = engines[1 - eldest]
            #expect(!other.processes.leads)
            engines[eldest].close()
            #expect(!engines[eldest].processes.leads)
            try Wait.until { other.processes.leads && other.processes.count == 1 }
        }

        @Test("A store that another process has reset is told of, and opens anew")
        func gone() throws {
            let told = Awaited<StoreKey>()
            let engines = [
                try location.engine(), try location.engine { $0.onGone = { told.tell($0) } },
            ]
            defer { end(engines) }
            try engines[0].catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            let stores = try engines.map { try $0.open(key, notices: CommitNotices()) }
            let identity = try stores[1].identity
            _ = engines[0].close(key, isUnused: true)
            let beginning = StoreBeginning(
                schema: Schema(), moment: 1, who: "test", difference: [])
            try engines[0].reset(key, to: beginning)
            #expect(throws: StorageFailure.missing) { try stores[1].identity }
            #expect(try told.value() == key)
            _ = engines[1].close(key, isUnused: true)
            let opened = try engines[1].open(key, notices: CommitNotices())
            #expect(try opened.identity.incarnation != identity.incarnation)
        }

        @Test("One session listens where it is told to, and no other goes there")
        func listening() throws {
            let connection = try location.connection(of: "a")
            var listening = connection
            // By this the test knows it from the others.
            listening.settings.append("SET application_name = 'listening'")
            let engines = [
                try location.engine(settings: { $0.listening = listening }), try location.engine(),
            ]
            defer { end(engines) }
            try engines[0].catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            let stores = try engines.map { try $0.open(key, notices: CommitNotices()) }
            let told = Awaited<Bool>()
            stores[0].notices.watch([.anything]).whenMoved { _ in told.tell(true) }
            let name = try #require(ZoneName("shelf"))
            _ = try stores[1].writeAndWait { [user] in
                try $0.makeZone(named: name, ofOwnerNamed: user)
            }
            #expect(try told.value())
            let sessions = try Connection(connection).run(
                "SELECT 1 FROM pg_stat_activity WHERE application_name = 'listening'")
            #expect(sessions.count == 1)
        }

        @Test(
            "A process whose session begins anew, as with a promoted standby, drops what it kept of the catalog"
        )
        func newSession() throws {
            let connection = try location.connection(of: "a")
            let engine = try location.engine(settings: { settings in
                settings.listening = connection
                settings.listening?.settings = ["SET application_name = 'ends'"]
                // Its lease goes on, whatever happens.
                settings.leaseClock = { 1 }
            })
            defer { end([engine]) }
            let version = engine.catalog.version
            let admin = try Connection(connection)
            // It may not have begun yet, for it begins beside the engine.
            try Wait.until {
                _ = try admin.run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = 'ends' AND datname = current_database()
                        AND pid <> pg_backend_pid()
                    """)
                return engine.catalog.version != version
            }
        }

        @Test("A process that would listen to another database is refused")
        func listensElsewhere() throws {
            let other = try location.engine("b")
            let connection = try location.connection(of: "b")
            defer { end([other]) }
            #expect(throws: ListensElsewhere()) {
                _ = try location.engine(settings: { $0.listening = connection })
            }
        }

        @Test("A process whose assets are elsewhere than those of the others is refused")
        func assets() throws {
            let first = try location.engine { $0.assets = "folder a" }
            defer { end([first]) }
            #expect(throws: AssetsElsewhere(own: "folder b", others: "folder a")) {
                _ = try location.engine { $0.assets = "folder b" }
            }
            let second = try location.engine { $0.assets = "folder a" }
            let connection = try Connection(location.connection(of: "a"))
            #expect(try LivingProcesses(connection).living().count == 2)
            second.close()
        }
    }
#endif
