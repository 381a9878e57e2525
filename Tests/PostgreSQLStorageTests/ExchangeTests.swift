#if PostgreSQL
    import Awaiting
    import CloudModel
    import Dispatch
    import Foundation
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
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
                let told = Awaited<Bool>()
                waiting.notices.watch([.anything]).whenMoved { _ in told.tell(true) }
                try Self.makeZone("z\(number)", in: silent)
                // The last of these may have been on its way before the commit, and one is when it is counted.
                let asked = exchange.measurements.questions
                try Wait.until { exchange.measurements.questions > asked + 2 }
                #expect(waiting.notices.waitCount == 0)
                _ = try told.value()
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

        @Test("Who waits for a store that is closed here is told of what another process commits")
        func closed() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let exchanges = Exchanges()
            let exchange = exchanges.make(location.connection)
            let writer = try location.openPostgreSQLStore()
            let waiting = try location.openPostgreSQLStore { $0.exchange = exchange }
            for name in ["one", "two"] {
                try Self.hears(.anything, in: waiting, by: exchange) {
                    location.close(waiting)
                    try Self.makeZone(name, in: writer)
                }
            }
        }

        @Test(
            "Who waits for what processes do hears nothing of other processes' commits without any",
            arguments: [StorePart.work, .senders, .followers])
        func idle(_ part: StorePart) throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let exchanges = Exchanges()
            let exchange = exchanges.make(location.connection)
            let writer = try location.openPostgreSQLStore()
            let waiting = try location.openPostgreSQLStore { $0.exchange = exchange }
            // Of all that there was before the first look everybody is told.
            let asked = exchange.measurements.questions
            try Wait.until { exchange.measurements.questions > asked + 1 }
            let hasMoved = Mutex(false)
            let watch = waiting.notices.watch([part])
            watch.whenMoved { _ in hasMoved.withLock { $0 = true } }
            for number in 0..<3 {
                try Self.hears(.anything, in: waiting, by: exchange) {
                    try Self.makeZone("z\(number)", in: writer)
                }
                #expect(!hasMoved.withLock { $0 })
            }
            guard part != .senders else { return }
            try writer.writeAndWait { transaction in
                if part == .work { return try transaction.enqueue(.collect) }
                _ = try transaction.follow(as: FollowerName("follower"))
            }
            try Wait.until { hasMoved.withLock { $0 } }
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
                    WHERE d.datname = current_database() AND query LIKE '%follower_revision%FROM progress%'
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

        @Test("A change of the catalog is told to the others once it is committed, and not before")
        func notifyingOfTheCatalog() throws {
            // One of its own, whose log has nothing of other tests.
            let server = try PostgreSQLServer(waitsForDisk: false)
            let location = try PostgreSQLLocation(on: server)
            defer { location.remove() }
            let connection = try Connection(location.connection(of: "a"))
            let database = try connection.run("SELECT convert_to(current_database(), 'UTF8')")
            try connection.run(
                script: "ALTER DATABASE \(database.text(0, 0)) SET log_statement = 'all'")
            let engines = try (0..<2).map { _ in try location.engine() }
            defer { for engine in engines { engine.close() } }
            let container = try #require(ContainerID("iCloud.a"))
            try engines[0].catalog.add(ContainerRecord(id: container, createdAt: 1))
            let before = try NotedStatements(in: server.folder + "/log")
            for number in 0..<20 {
                // Returns once the other one has heard of it.
                try engines[number % 2].catalog.set(["key": "\(number)"], of: container)
            }
            let noted = try NotedStatements(in: server.folder + "/log")
            #expect(noted.catalogChanges - before.catalogChanges == 20)
            // One that has looked by itself is not told.
            #expect(noted.notifications > before.notifications)
            #expect(noted.notificationsWithin == 0)
            #expect(noted.notificationsBesideChanges == 0)
        }

        @Test("How often a process asks and how long its lease lasts is what the pages say")
        func promisedNumbers() throws {
            let docs = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../docs")
            func page(_ name: String) throws -> String {
                try String(contentsOf: docs.appending(path: name), encoding: .utf8)
                    .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            let interval = CommitListener.intervalMilliseconds
            #expect(interval == 250 && LivingProcesses.leaseMilliseconds == 5_000)
            #expect(try page("scaling.md").contains("a question every \(interval) ms"))
            let design = try page("design/postgres.md")
            #expect(design.contains("asks every \(interval) ms"))
            #expect(design.contains("lease of five seconds"))
            #expect(try page("operating/postgres.md").contains("dead after five seconds"))
        }

        @Test("Many stores go in few messages, each shorter than the server takes")
        func payloads() {
            var states: [Int64: CommitState] = [:]
            for store in 1...2_000 {
                states[Int64(store)] = state(1 << 40, .max, .max, .max)
            }
            let payloads = CommitState.payloads(of: states)
            #expect(payloads.count < 40 && payloads.allSatisfy { $0.utf8.count < 8_000 })
            let read = payloads.map { CommitState.states(in: $0) }
            #expect(read.reduce(into: [:]) { $0.merge($1) { $1 } } == states)
            #expect(CommitState.payloads(of: [:]) == [])
            #expect(

                CommitState.states(in: "1:2:3:4:5:6 a:b:c:d:e:f:g 3:4:5:6:7:7:7 1:2:3:4:5:6:7:8")
                    == [3: state(4, 5, 6, 7)])
        }

        private func state(
            _ position: Position, _ commits: Int64, _ life: Int64, _ nextWork: Int64 = 1
        ) -> CommitState {
            CommitState(
                position: position, commits: commits, life: life,
                queues: CommitState.Queues(work: nextWork, notice: nextWork, followers: nextWork))
        }

        @Test("Only commits that nobody has been told of are told, in whatever order they are met")
        func tally() {
            var tally = CommitTally()
            func found(_ number: Int64, life: Int64 = 1) -> Bool {
                tally.found(state(0, number, life))
            }
            func committed(_ number: Int64, life: Int64 = 1) -> Bool {
                tally.committed(state(0, number, life))
            }
            // Whatever there was before the first look is new, once; then come a commit of this process, one behind
            // another's, and two of others; last one that was found before its own process has said so.
            let told = [
                found(4), found(4), committed(5), found(5), committed(7), found(6), found(7),
                found(9), committed(8),
            ]
            #expect(told == [true, false, false, false, true, false, false, true, false])
            // Another life is new, whatever its numbers are, and whoever has begun it.
            let further = [
                found(3, life: 2), found(3, life: 2), committed(4, life: 2), found(4, life: 2),
                committed(2, life: 3), found(2, life: 3), found(3, life: 3),
            ]
            #expect(further == [true, false, false, false, true, false, true])
        }

        @Test("Numbers of a life that was lost say nothing of what waits in the one after it")
        func queuesOfAnotherLife() {
            var tally = CommitTally()
            #expect(tally.unmoved(by: state(0, 1, 1)) == [])
            let isNew = tally.found(state(0, 1, 1))
            #expect(isNew && tally.unmoved(by: state(0, 2, 1)) == [.work, .senders, .followers])
            #expect(tally.unmoved(by: state(0, 2, 2)) == [])
        }
    }
#endif
