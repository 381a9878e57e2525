#if PostgreSQL
    import Awaiting
    import CloudModel
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("A server that was promoted and lacks commits, under processes that know of them")
    struct LackedCommitTests {
        /// What a standby has of the stores of a database.
        private struct Standby {
            private let connection: Connection
            private let tables: [String]

            /// It gets nothing any more of what is committed from now on.
            init(_ location: PostgreSQLLocation) throws {
                connection = try Connection(location.connection)
                let rows = try connection.run(
                    """
                    SELECT convert_to(tablename, 'UTF8') FROM pg_tables
                    WHERE schemaname = 'stores' AND tablename NOT IN ('stores', 'migrations')
                    """)
                tables = (0..<rows.count).map { rows.text($0, 0) }
                let copies = tables.map { "CREATE TABLE standby.\($0) AS TABLE stores.\($0);" }
                try connection.run(
                    script: "CREATE SCHEMA standby;" + copies.joined(separator: "\n"))
            }

            /// From now on the processes reach this one.
            func promote() throws {
                let copies = tables.map {
                    "DELETE FROM stores.\($0); INSERT INTO stores.\($0) TABLE standby.\($0);"
                }
                try connection.run(
                    script: copies.joined(separator: "\n")
                        + LackedCommitTests.anotherTimeline)
            }
        }

        /// As if the last write had gone to the server before a promotion.
        private static let anotherTimeline = "UPDATE stores.progress SET timeline = timeline - 1;"

        private let fixture: GroupFixture
        private let other: PostgreSQLStore
        private let gaps = Gaps()

        init() throws {
            let gaps = gaps
            fixture = try GroupFixture { $0.random = gaps.random($0.random) }
            other = try fixture.location.openPostgreSQLStore { $0.random = gaps.random($0.random) }
        }

        /// How much further than they must lives begin, one after the other; by chance where none is said.
        private final class Gaps: Sendable {
            private let waiting = Mutex<[UInt8]>([])

            func say(_ gaps: [UInt8]) { waiting.withLock { $0 = gaps } }

            func random(
                _ others: @escaping @Sendable (Int) -> [UInt8]
            ) -> @Sendable (Int) -> [UInt8] {
                { [self] count in
                    guard count == 3 else { return others(count) }
                    let gap = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                    return gap.map { [0, $0, 0] } ?? others(count)
                }
            }
        }

        /// Begins a life with a save, as if this server had been promoted.
        private func beginLife(_ name: String) throws {
            try Connection(fixture.location.connection).run(script: Self.anotherTimeline)
            try fixture.save([name])
        }

        @Test("Who is followed by another process since then is told of every change")
        func followers() throws {
            defer { fixture.location.remove() }
            let texts: [StaticString] = ["a", "b", "c", "d", "e", "f", "g", "h"]
            let names = texts.map { FollowerName($0) }
            let standby = try Standby(fixture.location)
            for _ in 0..<2 {
                _ = try fixture.store.writeAndWait { try $0.follow(as: names[0]) }
                try fixture.store.writeAndWait { try $0.unfollow(names[0]) }
            }
            try standby.promote()
            // Who follows changes as often as it had in what was lost, and then more often.
            for (index, name) in names.enumerated() {
                _ = try other.writeAndWait { try $0.follow(as: name) }
                try fixture.save(["r"])
                let count = try other.read { snapshot in
                    var count = 0
                    _ = try snapshot.changes(after: 0, limit: .max) { _ in
                        count += 1
                        return true
                    }
                    return count
                }
                #expect(count == index + 1)
            }
            #expect(try other.problems() == [])
        }

        /// Adds a destination; the number of what is subscribed to, as the first process has it.
        private func register(_ key: UInt8, in store: PostgreSQLStore) throws -> Int64 {
            let user = try #require(GroupFixture.user)
            _ = try store.writeAndWait {
                try $0.register(NewDestination(kind: .webPush, key: [key], user: user))
            }
            return try fixture.store.read { try $0.subscriptionRevision() }
        }

        @Test("The number of what is subscribed to is not one that it had in what was lost")
        func subscriptions() throws {
            defer { fixture.location.remove() }
            let standby = try Standby(fixture.location)
            let lost = try (0..<3).map { try register($0, in: fixture.store) }
            try standby.promote()
            for key in UInt8(10)..<16 {
                let revision = try register(key, in: other)
                #expect(!lost.contains(revision))
            }
        }

        @Test("Nor is it one that it had in a life that was lost as a whole")
        func subscriptionsOfLives() throws {
            defer { fixture.location.remove() }
            gaps.say([9, 200])
            let standby = try Standby(fixture.location)
            try beginLife("lost")
            let lost = try (0..<3).map { try register($0, in: fixture.store) }
            try standby.promote()
            for key in UInt8(10)..<16 {
                let revision = try register(key, in: other)
                #expect(!lost.contains(revision))
            }
        }

        @Test(
            "What is known of a life that was lost as a whole is not taken for what the next one has"
        )
        func facts() throws {
            defer { fixture.location.remove() }
            func replace(_ text: String, in store: PostgreSQLStore) throws {
                let name = try #require(RecordTypeName(text))
                var schema = Schema()
                schema.types[name] = Schema.RecordType(number: 0, grants: [:])
                try store.writeAndWait { [schema] in
                    try $0.replaceSchema(by: schema, who: "a test", difference: [])
                }
            }
            func types() throws -> Set<String> {
                try Set(fixture.store.read { try $0.schema.types.keys.map(\.text) })
            }
            // So the numbers of both lives are the same.
            gaps.say([7, 7])
            let standby = try Standby(fixture.location)
            try beginLife("lost")
            try replace("Lost", in: fixture.store)
            #expect(try types().contains("Lost"))
            try standby.promote()
            try replace("Made", in: other)
            let known = try types()
            #expect(known.contains("Made") && !known.contains("Lost"))
            #expect(try fixture.store.problems() == [] && other.problems() == [])
        }

        /// Until it has asked for what is there by now.
        private static func waitForQuestion(of exchange: CommitExchange) throws {
            let asked = exchange.measurements.questions
            try Wait.until { exchange.measurements.questions > asked + 1 }
        }

        @Test(
            "Who waits is told of a life that has fewer commits than one that was lost as a whole")
        func fewerCommits() throws {
            defer { fixture.location.remove() }
            let exchange = CommitExchange(fixture.location.connection)
            defer { exchange.close() }
            let waiting = try fixture.location.openPostgreSQLStore { $0.exchange = exchange }
            gaps.say([200, 1])
            let standby = try Standby(fixture.location)
            try beginLife("lost")
            try Self.waitForQuestion(of: exchange)
            try standby.promote()
            try Self.waitForQuestion(of: exchange)
            for number in 0..<3 {
                let told = Awaited<Bool>()
                waiting.notices.watch([.anything]).whenMoved { _ in told.tell(true) }
                try fixture.save(["made\(number)"])
                #expect(try told.value())
            }
        }

        @Test("Who waits by one process is told of what another commits, however much was lost")
        func commits() throws {
            defer { fixture.location.remove() }
            let exchange = CommitExchange(fixture.location.connection)
            defer { exchange.close() }
            let waiting = try fixture.location.openPostgreSQLStore { $0.exchange = exchange }
            let standby = try Standby(fixture.location)
            for number in 0..<20 { try fixture.save(["lost\(number)"]) }
            try Self.waitForQuestion(of: exchange)
            try standby.promote()
            try Self.waitForQuestion(of: exchange)
            let told = Awaited<Bool>()
            waiting.notices.watch([.anything]).whenMoved { _ in told.tell(true) }
            try fixture.save(["a"])
            #expect(try told.value())
        }

        @Test("The number of a store that the server does not know is not given to another one")
        func storeNumbers() throws {
            defer { fixture.location.remove() }
            let connection = try Connection(fixture.location.connection)
            func numbers() throws -> [Int64] {
                let rows = try connection.run("SELECT store FROM stores.stores")
                return (0..<rows.count).map { rows.number($0, 0) }
            }
            let lost = try numbers()
            try connection.run(script: "DELETE FROM stores.stores")
            _ = try fixture.location.openPostgreSQLStore()
            let made = try numbers()
            #expect(lost.count == 1 && made.count == 1 && made != lost)
        }

        @Test(
            "Where a life was lost, too, that a promotion had begun, its successor is another one")
        func lives() throws {
            defer { fixture.location.remove() }
            try fixture.save(["a"])
            let before = try fixture.store.identity
            let standby = try Standby(fixture.location)
            for number in 0..<5 { try fixture.save(["lost\(number)"]) }
            let beyond = try fixture.store.identity
            try beginLife("lost")
            let lost = try fixture.store.identity
            #expect(lost.previous == before.incarnation)
            #expect(lost.knows(before.incarnation, through: beyond.last))
            try standby.promote()
            try other.writeAndWait { try $0.enqueue(.collect) }
            // Nor does it begin where that one did, and give out its positions once more.
            #expect(abs(try other.identity.last - lost.last) > 16)
            for store in [fixture.store, other] {
                let after = try store.identity
                #expect(after.incarnation != lost.incarnation)
                #expect(after.previous == before.incarnation)
                #expect(after.knows(before.incarnation, through: before.last))
                #expect(!after.knows(before.incarnation, through: beyond.last))
            }
        }
    }
#endif
