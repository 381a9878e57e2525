#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import PostgreSQLStorage
    import Seeding
    import Storage
    import StorageConformance
    import Testing

    @Suite("What groups add to zones and owners on PostgreSQL")
    struct RecentSumsTests {
        /// A zone in a store whose clock stands still.
        struct Fixture {
            let clock = TestClock()
            let group: GroupFixture
            let connection: Connection

            var store: PostgreSQLStore { group.store }

            init() throws {
                group = try GroupFixture(PostgreSQLLocation(clock))
                connection = try Connection(group.location.connection)
            }

            /// Which versions the rows of zones and owners are.
            func versions() throws -> [Int64] {
                let rows = try connection.run(
                    """
                    SELECT xmin::text::bigint FROM owners WHERE record_name <> '\\x'
                    UNION ALL SELECT xmin::text::bigint FROM zones
                    """)
                return (0..<rows.count).map { rows.number($0, 0) }
            }

            func waiting() throws -> Int64 {
                try connection.run("SELECT count(*) FROM waiting_sums").number(0, 0)
            }

            func amount() throws -> (bytes: Int64, records: Int?) {
                let amount = try store.read { try $0.amount(of: group.zone.owner) }
                return (amount.bytes, amount.records)
            }
        }

        @Test(
            "Groups of a second write the rows of a zone and its owner once, and all count at once")
        func once() throws {
            let fixture = try Fixture()
            defer { fixture.group.location.remove() }
            try fixture.group.save(["first"])
            let versions = try fixture.versions()
            for number in 1...20 {
                try fixture.group.save(["a\(number)", "b\(number)"])
                #expect(try fixture.amount() == (Int64(2 + 4 * number), 1 + 2 * number))
            }
            #expect(try fixture.versions() == versions)
            #expect(try fixture.waiting() == 40)
            #expect(try fixture.store.problems() == [])
            fixture.clock.advance(1_000)
            try fixture.group.save(["last"])
            #expect(try fixture.versions() != versions)
            #expect(try fixture.waiting() == 0)
            #expect(try fixture.amount() == (84, 42))
            #expect(try fixture.store.problems() == [])
        }

        @Test("A clock that was put back has nothing wait for it")
        func putBack() throws {
            let fixture = try Fixture()
            defer { fixture.group.location.remove() }
            try fixture.group.save(["a"])
            try fixture.group.save(["b"])
            #expect(try fixture.waiting() == 2)
            fixture.clock.advance(-3_600_000)
            try fixture.group.save(["c"])
            #expect(try fixture.waiting() == 0)
        }

        @Test("Upkeep adds what nobody's writes add any more")
        func upkeep() throws {
            let fixture = try Fixture()
            defer { fixture.group.location.remove() }
            for name in ["a", "b", "c"] { try fixture.group.save([name]) }
            #expect(try fixture.waiting() > 0)
            try fixture.store.writeAndWait { transaction in
                _ = try transaction.collect(olderThan: 0, limit: 1_000)
            }
            #expect(try fixture.waiting() == 0)
            #expect(try fixture.amount() == (6, 3))
            #expect(try fixture.store.problems() == [])
        }

        @Test("What waits and would never be added is found")
        func lost() throws {
            let fixture = try Fixture()
            defer { fixture.group.location.remove() }
            try fixture.group.save(["a"])
            try fixture.group.save(["b"])
            _ = try fixture.connection.run("UPDATE owners SET counted = 1000000")
            let problems = try fixture.store.problems()
            #expect(problems.contains { $0.contains("will never be counted") })
        }

        @Test(
            "Whatever is saved and deleted at whatever time, sums and feeds are those of the records"
        )
        func random() throws {
            let fixture = try Fixture()
            defer { fixture.group.location.remove() }
            var random = SeededRandom("sums of zones")
            let owners = try (1...3).map {
                try #require(UserRecordName("_\(String(repeating: "0", count: 31))\($0)"))
            }
            for step in 0..<150 {
                let owner = random.one(of: owners)
                let zone = try #require(ZoneName("zone \(random.below(4))"))
                let names = (0..<1 + random.below(4)).compactMap { _ in
                    RecordName("r\(random.below(20))")
                }
                let deletes = random.once(in: 15)
                try fixture.store.writeAndWait { transaction in
                    guard let found = try transaction.zone(named: zone, ofOwnerNamed: owner) else {
                        _ = try transaction.makeZone(named: zone, ofOwnerNamed: owner)
                        return
                    }
                    if deletes { return try transaction.deleteZone(found) }
                    try Self.save(Array(Set(names)), in: found, transaction)
                }
                fixture.clock.advance(Milliseconds(random.below(600)))
                if random.once(in: 20) {
                    try fixture.store.writeAndWait { transaction in
                        _ = try transaction.collect(olderThan: 0, limit: 10)
                    }
                }
                if step % 10 == 0 { try Self.compare(owners, random.below(4), in: fixture.store) }
            }
            #expect(try fixture.store.problems() == [])
        }

        private static func save(
            _ names: [RecordName], in zone: StoredZone, _ transaction: any StoreTransaction
        ) throws {
            let heads = try transaction.heads(of: names, in: zone.number)
            let first = try transaction.takePositions(names.count)
            let versions = zip(names, heads).enumerated().map { index, pair in
                NewVersion(
                    zone: zone, name: pair.0, position: first + Position(index), previous: pair.1,
                    previousBytes: pair.1 == nil ? 0 : 2, previousIsAlive: pair.1 != nil, type: 1,
                    flags: [], body: [123, 125])
            }
            _ = try transaction.save(versions)
        }

        /// The feed of each owner, in pages, has each zone where its records say.
        private static func compare(
            _ owners: [UserRecordName], _ limit: Int, in store: PostgreSQLStore
        ) throws {
            try store.read { snapshot in
                for name in owners {
                    guard let owner = try snapshot.owner(named: name) else { continue }
                    let zones = try snapshot.zones(of: owner.number, .stored(limit: 1_000))
                    var expected: [Position: ZoneNumber] = [:]
                    for zone in zones {
                        guard let changed = zone.changed, changed > 0 else { continue }
                        expected[changed] = zone.number
                        guard !zone.isDeleted else { continue }
                        var last: Position = zone.created
                        try snapshot.versions(
                            in: zone.number, after: 0, through: .max, newestFirst: true
                        ) { version in
                            last = version.position
                            return false
                        }
                        #expect(changed == last)
                    }
                    var feed: [(Position, ZoneNumber)] = []
                    var after: Position = 0
                    while true {
                        let page = try snapshot.zones(
                            of: owner.number, changedAfter: after, limit: limit + 1)
                        feed += page.map { ($0.changed ?? 0, $0.number) }
                        guard let last = page.last?.changed else { break }
                        after = last
                    }
                    #expect(feed.map(\.0) == expected.keys.sorted())
                    #expect(feed.map(\.1) == expected.sorted { $0.key < $1.key }.map(\.value))
                }
            }
        }
    }
#endif
