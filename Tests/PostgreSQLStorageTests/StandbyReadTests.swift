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

    @Suite("A standby that reads feeds")
    struct StandbyReadTests {
        private let server: PostgreSQLServer
        private let fixture: GroupFixture
        private let standby: StandbyReads
        /// On the standby.
        private let admin: Connection
        /// What its reads go by.
        private let proxy: CuttingProxy
        private let options: ConnectionOptions

        init() throws {
            server = try PostgreSQLServer()
            let location = try PostgreSQLLocation(on: server)
            try server.addStandby()
            proxy = try CuttingProxy(before: server, standby: true)
            var options = location.standbyConnection
            options.address.replace("\(server.folder)/standby-socket", with: proxy.folder)
            self.options = options
            let reads = StandbyReads(options, max: 4, answerMilliseconds: 600_000)
            standby = reads
            fixture = try GroupFixture(location) { $0.standby = reads }
            admin = try Connection(location.standbyConnection)
        }

        /// Waits until the standby has what the server has.
        private func catchUp() throws {
            let connection = try Connection(fixture.location.connection)
            let end = try connection.run("SELECT pg_current_wal_lsn()::text::bytea")
                .text(0, 0)
            func hasReached() throws -> Bool {
                try admin.run(
                    "SELECT (pg_last_wal_replay_lsn() >= convert_from($1, 'UTF8')::pg_lsn)::int",
                    .text(end)
                ).number(0, 0) == 1
            }
            let limit = DispatchTime.now() + .seconds(600)
            while try !hasReached() {
                try #require(DispatchTime.now() < limit, "the standby does not catch up")
            }
        }

        @Test("It reads feeds once it has all that was acknowledged, and nothing else")
        func caughtUp() throws {
            defer { fixture.location.remove() }
            try fixture.save(["a", "b"])
            try catchUp()
            #expect(try fixture.names(isOfFeed: true) == 2)
            #expect(standby.counts.answered == 1)
            #expect(try fixture.names() == 2)
            #expect(standby.counts.answered == 1 && standby.counts.passedOn == 0)
        }

        @Test(
            "While it is behind the server reads, and every feed shows what was acknowledged before"
        )
        func behind() throws {
            defer { fixture.location.remove() }
            try fixture.save(["r"])
            try catchUp()
            _ = try admin.run("SELECT pg_wal_replay_pause()")
            for number in 0..<5 {
                try fixture.save(["r\(number)"])
                #expect(try fixture.names(isOfFeed: true) == number + 2)
            }
            #expect(standby.counts.answered == 0 && standby.counts.passedOn == 5)
            _ = try admin.run("SELECT pg_wal_replay_resume()")
            for number in 5..<100 {
                try fixture.save(["r\(number)"])
                #expect(try fixture.names(isOfFeed: true) == number + 2)
            }
            try catchUp()
            #expect(try fixture.names(isOfFeed: true) == 101)
            #expect(standby.counts.answered > 0)
        }

        @Test("While it is away the server reads, and does not ask it each time")
        func away() throws {
            defer { fixture.location.remove() }
            try fixture.save(["a"])
            try catchUp()
            #expect(try fixture.names(isOfFeed: true) == 1)
            try server.stopStandby()
            for _ in 0..<50 { #expect(try fixture.names(isOfFeed: true) == 1) }
            #expect(standby.counts.passedOn == 50)
        }

        @Test(
            "One that is silent holds up a few feeds for some seconds, and is asked by one read at a time later"
        )
        func silent() throws {
            defer { fixture.location.remove() }
            try fixture.save(["a"])
            try catchUp()
            let standby = StandbyReads(options, max: 4)
            let store = try fixture.location.openPostgreSQLStore { $0.standby = standby }
            let (name, zone) = (try #require(RecordName("a")), fixture.zone.number)
            let isThere = { @Sendable in
                // NB: what fails is missed below.
                let head = try? store.read(ReadLoad(isOfFeed: true)) { snapshot in
                    try snapshot.head(of: name, in: zone)
                }
                return head != nil
            }
            try Wait.until { isThere() && standby.counts.answered > 0 }
            let before = standby.counts
            proxy.fallSilent()
            defer { proxy.speak() }
            let began = DispatchTime.now()
            let answered = Atomic(0)
            for _ in 0..<2 {
                DispatchQueue.concurrentPerform(iterations: 8) { _ in
                    if isThere() { answered.add(1, ordering: .relaxed) }
                }
            }
            #expect(answered.load(ordering: .relaxed) == 16)
            #expect(standby.counts.passedOn == before.passedOn + 16)
            // Sixty seconds is how long a snapshot may live; a test's may live for ten minutes.
            #expect(DispatchTime.now() < began + .seconds(40))
            proxy.speak()
            try Wait.until { isThere() && standby.counts.answered > before.answered }
        }

        @Test("One that has what a promotion has lost reads nothing")
        func lost() throws {
            defer { fixture.location.remove() }
            try fixture.save(["a", "b"])
            try catchUp()
            _ = try admin.run("SELECT pg_wal_replay_pause()")
            // As on another standby that was promoted and lacks a commit: its counter is behind this one's.
            let connection = try Connection(fixture.location.connection)
            try connection.run(script: "UPDATE progress SET commit_count = commit_count - 1")
            let answered = standby.counts.answered
            #expect(try fixture.names(isOfFeed: true) == 2)
            #expect(standby.counts.answered == answered)
        }

        @Test("What its body throws, a read throws, and the next one is answered")
        func failing() throws {
            defer { fixture.location.remove() }
            try fixture.save(["a"])
            try catchUp()
            struct Refusal: Error {}
            #expect(throws: Refusal.self) {
                try fixture.store.read(ReadLoad(isOfFeed: true)) { _ in throw Refusal() }
            }
            #expect(try fixture.names(isOfFeed: true) == 1)
            #expect(standby.counts.passedOn == 0)
        }
    }
#endif
