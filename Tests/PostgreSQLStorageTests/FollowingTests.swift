#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("Followers and notices on PostgreSQL")
    struct PostgreSQLFollowingTests {
        private static let user = UserRecordName("_00000000000000000000000000000001")
        private static let shelf = ZoneName("Shelf")
        private static let follower = FollowerName("follower")

        /// One database, in which two processes have a store open.
        private struct Fixture {
            let location: PostgreSQLLocation
            let (one, other): (PostgreSQLStore, PostgreSQLStore)
            let zone: StoredZone

            init() throws {
                let user = try #require(PostgreSQLFollowingTests.user)
                let shelf = try #require(PostgreSQLFollowingTests.shelf)
                location = try PostgreSQLLocation()
                one = try location.openPostgreSQLStore()
                other = try location.openPostgreSQLStore()
                zone = try one.writeAndWait { transaction in
                    try transaction.makeZone(named: shelf, ofOwnerNamed: user)
                }
            }

            /// Has somebody follow who wants former versions.
            func follow() throws {
                let zone = zone.number
                try one.writeAndWait { transaction in
                    _ = try transaction.follow(
                        as: PostgreSQLFollowingTests.follower,
                        wanting: [PreviousVersionNeed(.zone(zone))], alone: true)
                }
            }

            /// Saves records in one write that says what it needs.
            func save(_ count: Int, body: [UInt8] = [123, 125], in store: PostgreSQLStore) throws {
                let names = (0..<count).compactMap { RecordName("r\($0)") }
                let zone = zone
                var needs = StoreNeeds()
                (needs.owner, needs.zone) = (PostgreSQLFollowingTests.user, zone.name)
                needs.records = names
                let load = WriteLoad(cost: count) { [needs] in needs }
                let done = DispatchSemaphore(value: 0)
                let outcome = Mutex<Result<Void, any Error>?>(nil)
                store.write(load) { transaction in
                    let heads = try transaction.heads(of: names, in: zone.number)
                    let first = try transaction.takePositions(count)
                    _ = try transaction.save(
                        zip(names, heads).enumerated().map { index, pair in
                            NewVersion(
                                zone: zone, name: pair.0, position: first + Position(index),
                                previous: pair.1, previousBytes: pair.1 == nil ? 0 : body.count,
                                previousIsAlive: pair.1 != nil, type: 1, flags: [], body: body)
                        })
                } completion: { result in
                    outcome.withLock { $0 = result }
                    done.signal()
                }
                done.wait()
                try outcome.withLock { try $0?.get() }
            }

            /// How many changes there are, and how many of them have the version before.
            func changes(in store: PostgreSQLStore) throws -> (all: Int, previous: Int) {
                try store.read { snapshot in
                    var (all, previous) = (0, 0)
                    _ = try snapshot.changes(after: 0, limit: .max) { change in
                        all += 1
                        if change.previous != nil { previous += 1 }
                        return true
                    }
                    return (all, previous)
                }
            }
        }

        @Test("Who follows by one process is told of what another one writes, as they want it")
        func processes() throws {
            let fixture = try Fixture()
            defer { fixture.location.remove() }
            let zone = fixture.zone.number
            try fixture.save(3, in: fixture.other)
            try fixture.one.writeAndWait { transaction in
                _ = try transaction.follow(
                    as: Self.follower, wanting: [PreviousVersionNeed(.zone(zone))], alone: true)
            }
            try fixture.save(3, in: fixture.other)
            #expect(try fixture.changes(in: fixture.one) == (3, 3))
            try fixture.other.writeAndWait { try $0.unfollow(Self.follower) }
            try fixture.save(3, in: fixture.one)
            #expect(try fixture.changes(in: fixture.other) == (0, 0))
            #expect(try fixture.one.problems() == [])
        }

        @Test("A group that somebody follows takes two round trips, former versions included")
        func followed() throws {
            let fixture = try Fixture()
            defer { fixture.location.remove() }
            try fixture.follow()
            // More than are kept, so that the follower is let go in the last group.
            for _ in 0..<3 {
                let before = fixture.one.groupRoundTrips
                try fixture.save(200, in: fixture.one)
                #expect(fixture.one.groupRoundTrips - before == 2)
            }
            #expect(throws: FollowerFellBehind(Self.follower)) {
                try fixture.one.read { _ = try $0.position(of: Self.follower) }
            }
            #expect(try fixture.changes(in: fixture.one).all == 0)
            #expect(try fixture.one.problems() == [])
        }

        @Test("What nobody follows any more is forgotten in steps, and the rest is collected")
        func forgottenInSteps() throws {
            let fixture = try Fixture()
            defer { fixture.location.remove() }
            try fixture.follow()
            let connection = try Connection(fixture.location.connection)
            // Bodies of 100 MB in all come first, of which one step forgets two thirds.
            _ = try connection.run(
                """
                INSERT INTO changes (store, position, kind, zone, was_alive, previous_body)
                SELECT store, number, 3, 1, 0,
                    CASE WHEN number <= 100 THEN convert_to(repeat('a', 1048576), 'UTF8') END
                FROM progress, generate_series(1, 25000) AS number
                """)
            _ = try connection.run("UPDATE progress SET changes_kept = 25000")
            func kept() throws -> [Int64] {
                let rows = try connection.run(
                    "SELECT (SELECT count(*) FROM changes), changes_kept FROM progress")
                return [rows.number(0, 0), rows.number(0, 1)]
            }
            try fixture.one.writeAndWait { try $0.unfollow(Self.follower) }
            #expect(try kept() == [24_936, 24_936])
            let next = try fixture.one.read {
                try $0.nextWorkMoment([.collect], for: WorkHolder(1))
            }
            #expect(next != nil, "the rest is due")
            var steps = 0
            while try fixture.one.writeAndWait({ try $0.collect(olderThan: 0, limit: 20_000) }) {
                steps += 1
            }
            #expect(try kept() == [0, 0] && steps >= 3)
        }

        @Test("Pages of changes end at their bytes, and none is left out")
        func pages() throws {
            let fixture = try Fixture()
            defer { fixture.location.remove() }
            try fixture.follow()
            let body = [UInt8](repeating: 7, count: 1_000_000)
            for _ in 0..<2 { try fixture.save(12, body: body, in: fixture.one) }
            #expect(try fixture.changes(in: fixture.one) == (24, 12))
        }

        @Test("A page of notices takes two round trips, and so does what becomes of them")
        func notices() throws {
            let fixture = try Fixture()
            defer { fixture.location.remove() }
            let user = try #require(Self.user)
            let numbers = try fixture.one.writeAndWait { transaction in
                try (0..<20).map { number in
                    try transaction.register(
                        NewDestination(kind: .webPush, key: [UInt8(number)], user: user))
                }
            }
            var before = fixture.one.groupRoundTrips
            try fixture.one.writeAndWait { transaction in
                for number in 0..<400 {
                    let merge: [UInt8]? = number % 40 < 20 ? [1] : nil
                    _ = try transaction.enqueue(
                        NewNotice(
                            destination: numbers[number % 20], identifier: "n\(number)",
                            scope: .private, mergeKey: merge, payload: [123, 125]), countedMax: 0)
                }
                for number in numbers { try transaction.setBadge(3, of: number) }
            }
            #expect(fixture.one.groupRoundTrips - before == 2)
            let waiting = try fixture.other.read { snapshot in
                try snapshot.notices(for: numbers[0], after: NoticeNumber(0), limit: 100)
            }
            // Ten of each; of those with a key the last took the place of the others.
            let left = Array(stride(from: 20, to: 341, by: 40)) + [360, 380]
            #expect(waiting.map(\.identifier) == left.map { "n\($0)" })
            before = fixture.one.groupRoundTrips
            try fixture.one.writeAndWait { transaction in
                try transaction.removeNotices(waiting.dropLast().map(\.number))
                try transaction.giveUp(waiting[10].number, reason: "gone", keptMax: 9)
                try transaction.noteAttempt(at: numbers[0], isFailure: false, next: 1)
            }
            #expect(fixture.one.groupRoundTrips - before == 2)
            try fixture.other.read { snapshot in
                let due = try snapshot.destination(numbers[0])?.dueAt
                #expect(due == nil)
                let dead = try snapshot.notices(
                    .dead(numbers[0]), after: NoticeNumber(0), limit: 9)
                #expect(dead.count == 1)
            }
        }

        @Test(
            "What an entry of an index could not hold is found all the same, and every character is kept"
        )
        func longest() throws {
            let fixture = try Fixture()
            defer { fixture.location.remove() }
            // Nothing about them repeats, so that no compression makes them short.
            let long = (0..<100_000).map { _ in UInt8.random(in: 0...255) }
            let key = Array(long.prefix(20_000))
            let user = try #require(Self.user)
            let type = try #require(RecordTypeName("Note"))
            let id = try #require(SubscriptionID(String(repeating: "é", count: 127)))
            let owner = SubscriptionOwner(user: user, scope: .public)
            let match = SubscriptionMatch(field: "f", value: long)
            let subscription = Subscription(
                id: id, kind: .query, recordType: type, firesOn: [.create], query: long,
                notificationInfo: long)
            let number = try fixture.one.writeAndWait { transaction in
                try transaction.save(subscription, of: owner, requiring: match)
                let number = try transaction.register(
                    NewDestination(
                        kind: .webhook, key: key, user: nil, device: "a\u{0}b", address: long))
                for identifier in ["one", "two\u{0}"] {
                    _ = try transaction.enqueue(
                        NewNotice(
                            destination: number, identifier: identifier, scope: .public,
                            mergeKey: key, collapseID: "\u{0}", payload: long, trace: "\u{0}"),
                        countedMax: 0)
                }
                return number
            }
            try fixture.other.read { snapshot in
                let found = try snapshot.subscriptions(.publicOnes(type, requiring: match))
                #expect(found.map(\.subscription) == [subscription])
                let destination = try snapshot.destination(.webhook, key: key)
                #expect(destination?.number == number && destination?.device == "a\u{0}b")
                let notices = try snapshot.notices(for: number, after: NoticeNumber(0), limit: 9)
                #expect(notices.map(\.identifier) == ["two\u{0}"])
                #expect(notices.first?.payload == long && notices.first?.trace == "\u{0}")
            }
        }
    }
#endif
