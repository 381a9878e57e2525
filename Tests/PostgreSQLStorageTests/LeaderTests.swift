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

    @Suite("What one of several processes does for all")
    struct LeaderTests {
        private let location: PostgreSQLLocation

        init() throws { location = try PostgreSQLLocation() }

        @Test("A leader whose session ends as an elder process is back lets it lead")
        func elderIsBack() throws {
            let sleeps = Atomic(true)
            let elder = try location.engine(settings: { settings in
                settings.leaseClock = {
                    sleeps.load(ordering: .relaxed) ? 1 : DispatchTime.now().uptimeNanoseconds
                }
            })
            let connection = try location.connection(of: "a")
            let younger = try location.engine(settings: { settings in
                settings.listening = connection
                settings.listening?.settings = ["SET application_name = 'younger'"]
            })
            defer {
                for engine in [elder, younger] { engine.close() }
                location.remove()
            }
            let watch = try Connection(connection)
            let dead = LivingProcess(identity: elder.process, version: "", catalogVersion: .max)
            _ = try LivingProcesses(watch).renew(dead, for: 0)
            try Wait.until { younger.processes.leads }
            sleeps.store(false, ordering: .relaxed)
            try Wait.until {
                try LivingProcesses(watch).living().first?.identity == elder.process
            }
            _ = try watch.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'younger' AND datname = current_database()
                """)
            try Wait.until { elder.processes.leads && !younger.processes.leads }
        }

        @Test("A leader that was stopped writes nothing once another process has taken over")
        func late() throws {
            // Its clock stands still, so it takes itself for living.
            let stopped = try location.engine(settings: { $0.leaseClock = { 1 } })
            let lease = try #require(stopped.processes.lead)
            let account = AccountRecord(
                id: AccountID("a"), givenName: nil, familyName: nil, addresses: [], password: nil,
                createdAt: 1)
            try stopped.catalog.add(account)
            let address = Address(kind: .email, text: "a@b.example", folded: "a@b.example")
            let isQueued = try stopped.catalog.add(
                Letter(purpose: .reset, account: account.id, address: address, madeAt: 1),
                dueAt: 1, waitingMax: nil)
            #expect(isQueued)
            func letters() throws -> [Letter] {
                try stopped.catalog.dueLetters(to: .email, now: 9, countMax: 9)
            }
            let letter = try #require(letters().first)
            // As long as nobody has taken over, it goes on, whatever the others would think of it.
            let connection = try Connection(location.connection(of: "a"))
            let dead = LivingProcess(
                identity: stopped.process, version: "", catalogVersion: .max)
            _ = try LivingProcesses(connection).renew(dead, for: 0)
            try stopped.catalog.postpone(letter: letter.number, until: 2, by: lease)
            #expect(try letters().map(\.tries) == [1])
            let awake = try location.engine()
            defer {
                for engine in [stopped, awake] { engine.close() }
                location.remove()
            }
            try Wait.until { awake.processes.leads }
            let next = try #require(awake.processes.lead)
            #expect(next.number > lease.number)
            #expect(throws: StoreLease.Lost()) {
                try stopped.catalog.postpone(letter: letter.number, until: 3, by: lease)
            }
            #expect(throws: StoreLease.Lost()) {
                try stopped.catalog.deleteLetter(letter.number, by: lease)
            }
            #expect(throws: StoreLease.Lost()) {
                try stopped.catalog.delete(account.id, publicRecords: .keep, by: lease)
            }
            #expect(try letters().map(\.tries) == [1])
            #expect(try awake.catalog.account(account.id) != nil)
            try awake.catalog.deleteLetter(letter.number, by: next)
            #expect(try letters().isEmpty)
            _ = try awake.catalog.delete(account.id, publicRecords: .keep, by: next)
            #expect(try awake.catalog.account(account.id) == nil)
        }
    }
#endif
