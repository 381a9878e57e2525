#if PostgreSQL
    import Awaiting
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Testing

    @Suite("Processes on one database hear of each other's commits")
    struct CommitExchangeTests {
        private static let user = UserRecordName("_00000000000000000000000000000001")

        /// Ends the exchanges of a test with it.
        private final class Exchanges {
            private var open: [CommitExchange] = []

            func make(_ options: ConnectionOptions) -> CommitExchange {
                let exchange = CommitExchange(options)
                open.append(exchange)
                return exchange
            }

            deinit { for exchange in open { exchange.close() } }
        }

        /// Makes a zone of a name by a store.
        private static func makeZone(_ name: String, in store: PostgreSQLStore) throws {
            let user = try #require(user)
            let name = try #require(ZoneName(name))
            try store.writeAndWait { _ = try $0.makeZone(named: name, ofOwnerNamed: user) }
        }

        /// Makes a change, and waits until somebody is told who waits in a store since before it.
        ///
        /// - Parameter exchange: of the store's process; it has told of everything so far.
        private static func hears(
            _ part: StorePart, in store: PostgreSQLStore, by exchange: CommitExchange,
            of change: () throws -> Void
        ) throws {
            let asked = exchange.measurements.questions
            try Wait.until { exchange.measurements.questions > asked + 1 }
            let told = Awaited<Bool>()
            store.notices.watch([part]).whenMoved { _ in told.tell(true) }
            try change()
            _ = try told.value()
        }

        @Test("Who waits by one process is told of what another one commits, be it told or found")
        func told() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let exchanges = Exchanges()
            let (one, other) = (
                exchanges.make(location.connection), exchanges.make(location.connection)
            )
            let writer = try location.openPostgreSQLStore { $0.exchange = one }
            let silent = try location.openPostgreSQLStore()
            let waiting = try location.openPostgreSQLStore { $0.exchange = other }
            for (number, store) in [writer, silent, writer, silent].enumerated() {
                try Self.hears(.anything, in: waiting, by: other) {
                    try Self.makeZone("z\(number)", in: store)
                }
            }
            #expect(one.measurements.sent > 0)
        }

        @Test(
            "A commit of which nobody has told is heard of by the second question behind it at the latest"
        )
        func lostMessage() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let exchanges = Exchanges()
            let exchange = exchanges.make(location.connection)
            let silent = try location.openPostgreSQLStore()
            let waiting = try location.openPostgreSQLStore { $0.exchange = exchange }
            for number in 0..<5 {
                let told = Awaited<Int>()
                waiting.notices.watch([.anything]).whenMoved { _ in
                    told.tell(exchange.measurements.questions)
                }
                try Self.makeZone("z\(number)", in: silent)
                // The last of these may have been on its way before the commit.
                let asked = exchange.measurements.questions
                #expect(try told.value() <= asked + 2)
            }
            #expect(exchange.measurements.heard == 0)
        }

        @Test("A commit that takes no position is heard of, too")
        func withoutPosition() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let exchanges = Exchanges()
            let exchange = exchanges.make(location.connection)
            let writer = try location.openPostgreSQLStore()
            let waiting = try location.openPostgreSQLStore { $0.exchange = exchange }
            try Self.hears(.work, in: waiting, by: exchange) {
                try writer.writeAndWait { try $0.enqueue(.collect) }
            }
        }

        @Test("A listener whose session is cut hears on with another one")
        func cut() throws {
            let server = try PostgreSQLServer.shared()
            let location = try PostgreSQLLocation(on: server)
            defer { location.remove() }
            let proxy = try CuttingProxy(before: server)
            var options = location.connection
            options.address = options.address.replacing(server.folder, with: proxy.folder)
            let exchanges = Exchanges()
            let exchange = exchanges.make(options)
            let writer = try location.openPostgreSQLStore()
            let waiting = try location.openPostgreSQLStore { $0.exchange = exchange }
            for number in 0..<3 {
                let sessions = exchange.measurements.sessions
                try Self.hears(.anything, in: waiting, by: exchange) {
                    proxy.cutAll()
                    try Self.makeZone("z\(number)", in: writer)
                }
                #expect(exchange.measurements.sessions > sessions)
            }
        }

        @Test(
            "A follower by one process misses nothing that two write at once, and sees it in order")
        func follower() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let exchanges = Exchanges()
            let follower = FollowerName("follower")
            let stores = try (0..<3).map { _ in
                try location.openPostgreSQLStore {
                    $0.exchange = exchanges.make(location.connection)
                }
            }
            let start = try stores[2].writeAndWait { try $0.follow(as: follower) }
            let count = 60
            for (writer, store) in stores.prefix(2).enumerated() {
                DispatchQueue.global().async {
                    for number in 0..<count {
                        // NB: what fails is missed below.
                        try? Self.makeZone("\(writer) \(number)", in: store)
                    }
                }
            }
            var seen: [Position] = []
            while seen.count < 2 * count {
                let told = DispatchSemaphore(value: 0)
                let watch = stores[2].notices.watch([.anything])
                let before = seen.count
                try stores[2].read { snapshot in
                    _ = try snapshot.changes(after: seen.last ?? start, limit: .max) { change in
                        seen.append(change.position)
                        return true
                    }
                }
                guard seen.count == before else { continue }
                watch.whenMoved { _ in told.signal() }
                try #require(told.wait(timeout: .now() + .seconds(600)) == .success)
            }
            #expect(seen.count == 2 * count && seen == seen.sorted())
            #expect(Set(seen).count == seen.count)
        }

        @Test("One statement asks for all stores that a process has open")
        func questions() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let connection = try Connection(location.connection)
            _ = try connection.run("CREATE EXTENSION pg_stat_statements")
            func asked() throws -> Int {
                let rows = try connection.run(
                    """
                    SELECT coalesce(sum(s.calls), 0)::bigint FROM pg_stat_statements s
                    JOIN pg_database d ON d.oid = s.dbid
                    WHERE d.datname = current_database() AND query LIKE '%commit_count FROM progress%'
                        AND query NOT LIKE '%pg_stat_statements%'
                        AND query LIKE '%ANY%'
                    """)
                return Int(rows.number(0, 0))
            }
            let exchanges = Exchanges()
            let exchange = exchanges.make(location.connection)
            for number in 0..<5 {
                _ = try location.openPostgreSQLStore(named: "s\(number)") {
                    $0.exchange = exchange
                }
            }
            try Wait.until { exchange.measurements.questions > 4 }
            let least = exchange.measurements.questions
            try Wait.until { exchange.measurements.questions > least }
            let found = try asked()
            #expect(found >= least && found <= exchange.measurements.questions)
            #expect(exchange.measurements.sessions == 1)
        }

        @Test("No transaction that writes notifies: what is told is told behind its end")
        func notifying() throws {
            let server = try PostgreSQLServer.shared()
            let location = try PostgreSQLLocation(on: server)
            defer { location.remove() }
            let connection = try Connection(location.connection)
            let database = try connection.run("SELECT convert_to(current_database(), 'UTF8')")
            // Sessions from now on have the server note what they ask.
            try connection.run(
                script: "ALTER DATABASE \(database.text(0, 0)) SET log_statement = 'all'")
            let exchanges = Exchanges()
            let exchange = exchanges.make(location.connection)
            let store = try location.openPostgreSQLStore { $0.exchange = exchange }
            for number in 0..<20 { try Self.makeZone("z\(number)", in: store) }
            try Wait.until { exchange.measurements.sent > 0 }
            let noted = try NotedStatements(in: server.folder + "/log")
            #expect(noted.groups >= 20)
            #expect(noted.notifications > 0)
            #expect(noted.notificationsWithin == 0)
        }

        @Test("Many stores go in few messages, each shorter than the server takes")
        func payloads() {
            var states: [Int64: CommitState] = [:]
            for store in 1...2_000 {
                states[Int64(store)] = CommitState(position: 1 << 40, commits: .max)
            }
            let payloads = CommitState.payloads(of: states)
            #expect(payloads.count < 20 && payloads.allSatisfy { $0.utf8.count < 8_000 })
            let read = payloads.map { CommitState.states(in: $0) }
            #expect(read.reduce(into: [:]) { $0.merge($1) { $1 } } == states)
            #expect(CommitState.payloads(of: [:]) == [])
            #expect(CommitState.states(in: "1:2 a:b:c 3:4:5 1:2:3:4") == [3: state(4, 5)])
        }

        private func state(_ position: Position, _ commits: Int64) -> CommitState {
            CommitState(position: position, commits: commits)
        }

        @Test("Only commits that nobody has been told of are told, in whatever order they are met")
        func tally() {
            var tally = CommitTally()
            // Whatever there was before the first look is new, once; then come a commit of this process, one behind
            // another's, and two of others; last one that was found before its own process has said so.
            let told = [
                tally.found(4), tally.found(4), tally.committed(5), tally.found(5),
                tally.committed(7), tally.found(6), tally.found(7), tally.found(9),
                tally.committed(8),
            ]
            #expect(told == [true, false, false, false, true, false, false, true, false])
        }
    }
#endif
