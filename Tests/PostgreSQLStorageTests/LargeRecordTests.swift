#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("Large records on PostgreSQL")
    struct LargeRecordTests {
        private static let user = UserRecordName("_00000000000000000000000000000001")
        private static let shelf = ZoneName("Shelf")
        private static let bodyBytes = 1_000_000
        /// What is fetched at once, and what one more body and all that is no body may take.
        private static let answerBytesMax = 8_388_608 + 1_200_000

        /// A store behind a proxy that measures answers, with 24 records.
        private struct Fixture {
            let proxy: CuttingProxy
            let location: PostgreSQLLocation
            let store: PostgreSQLStore
            let zone: StoredZone
            let names = (0..<24).compactMap { RecordName("r\($0)") }

            private init() throws {
                let server = try PostgreSQLServer.shared()
                let proxy = try CuttingProxy(before: server)
                self.proxy = proxy
                location = try PostgreSQLLocation()
                let (user, shelf) = (
                    try #require(LargeRecordTests.user), try #require(LargeRecordTests.shelf)
                )
                store = try location.openPostgreSQLStore { options in
                    options.connection.address = options.connection.address.replacing(
                        server.folder, with: proxy.folder)
                }
                zone = try store.writeAndWait { transaction in
                    try transaction.makeZone(named: shelf, ofOwnerNamed: user)
                }
            }

            /// One whose records are filled with 1.
            static func filled() throws -> Fixture {
                let fixture = try Fixture()
                for first in stride(from: 0, to: fixture.names.count, by: 8) {
                    let some = Array(fixture.names[first..<first + 8])
                    try fixture.store.writeAndWait {
                        _ = try fixture.save(some, filledWith: 1, $0)
                    }
                }
                return fixture
            }

            func save(
                _ names: [RecordName], filledWith byte: UInt8, _ transaction: any StoreTransaction
            ) throws -> [(RecordNumber, Position)] {
                let heads = try transaction.heads(of: names, in: zone.number)
                let first = try transaction.takePositions(names.count)
                let body = [UInt8](repeating: byte, count: LargeRecordTests.bodyBytes)
                let versions = zip(names, heads).enumerated().map { index, pair in
                    NewVersion(
                        zone: zone, name: pair.0, position: first + Position(index),
                        previous: pair.1,
                        previousBytes: pair.1 == nil ? 0 : LargeRecordTests.bodyBytes,
                        previousIsAlive: pair.1 != nil, type: 1, flags: [], body: body)
                }
                return Array(zip(try transaction.save(versions), versions.map(\.position)))
            }

            /// Reads records and saves them with another body, in writes that say so and come together.
            ///
            /// - Returns: the first byte of each body that was read.
            func change(_ batches: [[RecordName]], to byte: UInt8) throws -> [UInt8] {
                let done = DispatchGroup()
                let outcomes = Mutex<[Result<[UInt8], any Error>]>([])
                for names in batches {
                    var needs = StoreNeeds()
                    (needs.owner, needs.zone) = (LargeRecordTests.user, zone.name)
                    needs.records = names
                    done.enter()
                    store.write(WriteLoad(cost: names.count) { [needs] in needs }) { transaction in
                        var read: [UInt8] = []
                        try transaction.current(of: names, in: zone.number, inOrder: true) {
                            #expect($0 == read.count && $1.body.count == LargeRecordTests.bodyBytes)
                            read.append($1.body.first ?? 0)
                            return true
                        }
                        _ = try save(names, filledWith: byte, transaction)
                        return read
                    } completion: { result in
                        outcomes.withLock { $0.append(result) }
                        done.leave()
                    }
                }
                done.wait()
                return try outcomes.withLock { try $0.flatMap { try $0.get() } }
            }

            /// The first byte of each record in the feed.
            func feed() throws -> [UInt8] {
                try store.read { snapshot in
                    var read: [UInt8] = []
                    try snapshot.versions(
                        in: zone.number, after: 0, through: .max, newestFirst: false
                    ) {
                        read.append($0.body.first ?? 0)
                        return true
                    }
                    return read
                }
            }
        }

        @Test("Writes fetch what they have foreseen and what they ask for by pages")
        func writes() throws {
            let fixture = try Fixture.filled()
            defer { fixture.location.remove() }
            fixture.proxy.forgetAnswers()
            let before = fixture.store.groupRoundTrips
            let all = [UInt8](repeating: 1, count: fixture.names.count)
            #expect(try fixture.change([fixture.names], to: 2) == all)
            // What was foreseen, two pages of the rest, and the commit.
            #expect(fixture.store.groupRoundTrips - before == 4)
            let batches = stride(from: 0, to: 24, by: 3).map { Array(fixture.names[$0..<$0 + 3]) }
            #expect(try fixture.change(batches, to: 3) == all.map { $0 + 1 })
            // The second change in one group is of what the first has left.
            #expect(try fixture.change([fixture.names, fixture.names], to: 4).max() == 4)
            #expect(fixture.proxy.longestAnswer < Self.answerBytesMax)
            #expect(fixture.proxy.longestAnswer > Self.bodyBytes)
            #expect(try fixture.feed() == all.map { $0 + 3 })
            #expect(try fixture.store.problems() == [])
        }

        @Test("What nobody has foreseen is fetched by pages, and heads come without bodies")
        func unforeseen() throws {
            let fixture = try Fixture.filled()
            defer { fixture.location.remove() }
            fixture.proxy.forgetAnswers()
            try fixture.store.writeAndWait { transaction in
                _ = try fixture.save(fixture.names, filledWith: 2, transaction)
            }
            #expect(fixture.proxy.longestAnswer < Self.answerBytesMax)
            #expect(try Set(fixture.feed()) == [2])
        }

        @Test("Followers get the former version of each large record, which writes fetch by pages")
        func former() throws {
            let fixture = try Fixture.filled()
            defer { fixture.location.remove() }
            let zone = fixture.zone.number
            let follower = FollowerName("follower")
            try fixture.store.writeAndWait { transaction in
                _ = try transaction.follow(
                    as: follower, wanting: [PreviousVersionNeed(.zone(zone))], alone: true)
            }
            fixture.proxy.forgetAnswers()
            _ = try fixture.change([fixture.names], to: 2)
            #expect(fixture.proxy.longestAnswer < Self.answerBytesMax)
            var former: [UInt8] = []
            try fixture.store.read { snapshot in
                _ = try snapshot.changes(after: 0, limit: .max) { change in
                    former.append(change.previous?.body.first ?? 0)
                    return true
                }
            }
            #expect(former == fixture.names.map { _ in 1 })
            #expect(try Set(fixture.feed()) == [2])
            #expect(try fixture.store.problems() == [])
        }

        @Test("Changes in a viewer's shares that are more than a run are read share by share")
        func shared() throws {
            let fixture = try Fixture.filled()
            defer { fixture.location.remove() }
            let viewer = try #require(UserRecordName("_00000000000000000000000000000002"))
            let (store, zone) = (fixture.store, fixture.zone.number)
            let share = try store.writeAndWait { transaction in
                let share = try transaction.makeShare(
                    in: zone, record: RecordNumber(2), root: RecordNumber(1),
                    publicPermission: .none)
                try transaction.set([GrantChange(viewer, .readOnly)], of: share.number)
                return share.number
            }
            let start = try #require(try store.read { try $0.view(of: viewer, in: zone) }).changed
            func enter(_ names: ArraySlice<RecordName>) throws {
                try store.writeAndWait { transaction in
                    for (record, position) in try fixture.save(
                        Array(names), filledWith: 2, transaction)
                    {
                        try transaction.move(
                            MembershipMove(
                                record, at: transaction.takePosition(),
                                into: .init(share, version: position, type: 1)))
                    }
                }
            }
            func changed() throws -> MembershipRun? {
                try store.read {
                    try $0.changedMemberships(of: viewer, in: zone, after: start, limit: 100)
                }
            }
            try enter(fixture.names[..<1])
            let one = try #require(try changed())
            #expect(one.isLast && one.memberships.count == 1)
            #expect(one.version(of: 0) { $0.body.first } == 2)
            try enter(fixture.names[1...])
            fixture.proxy.forgetAnswers()
            #expect(try changed() == nil)
            #expect(fixture.proxy.longestAnswer < Self.answerBytesMax)
            let run = try store.read {
                try $0.memberships(
                    of: share, in: zone, after: start, limit: 100, withVersions: true)
            }
            #expect(!run.isLast && !run.memberships.isEmpty)
        }
    }
#endif
