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

    @Suite("Groups of writes on PostgreSQL")
    struct PostgreSQLGroupTests {
        @Test("A group takes two round trips, whatever its size", arguments: [1, 10, 400])
        func roundTrips(_ count: Int) throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            let names = (0..<count).map { "r\($0)" }
            for _ in 0..<2 {
                let before = fixture.store.groupRoundTrips
                try fixture.save(names)
                #expect(fixture.store.groupRoundTrips - before == 2)
            }
            #expect(try fixture.names() == count)
            #expect(try fixture.store.problems() == [])
        }

        @Test("Many writes that come together are few groups, and each takes two round trips")
        func together() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            let (trips, commits) = (
                fixture.store.groupRoundTrips, fixture.store.measurements.commits
            )
            let done = DispatchGroup()
            let failures = Mutex(0)
            for number in 0..<300 {
                done.enter()
                fixture.write(["r\(number % 70)"], caller: UInt64(2 + number % 10)) { result in
                    if case .failure = result { failures.withLock { $0 += 1 } }
                    done.leave()
                }
            }
            #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
            #expect(failures.withLock { $0 } == 0)
            let groups = Int(fixture.store.measurements.commits - commits)
            #expect(groups < 300)
            #expect(fixture.store.groupRoundTrips - trips == 2 * groups)
            #expect(try fixture.names() == 70)
            #expect(try fixture.store.problems() == [])
        }

        @Test("What nobody foresaw takes a round trip for each kind of question")
        func unforeseen() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            let before = fixture.store.groupRoundTrips
            try fixture.save((0..<100).map { "r\($0)" }, foreseen: false)
            // The owner, the zone, all of the names, and whether trees are shared.
            #expect(fixture.store.groupRoundTrips - before == 6)
        }

        @Test("What many viewers may do with a share is set in as few round trips as for one")
        func grants() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            try fixture.save(["root", "share"])
            let share = try fixture.store.writeAndWait { [fixture] in
                try $0.makeShare(
                    in: fixture.zone.number, record: RecordNumber(2), root: RecordNumber(1),
                    publicPermission: .none)
            }
            let viewers = (0..<200).compactMap {
                UserRecordName("_\(String(repeating: "0", count: 28))\(1000 + $0)")
            }
            func set(
                _ viewers: ArraySlice<UserRecordName>, _ permission: SharePermission?
            ) throws -> Int {
                let before = fixture.store.groupRoundTrips
                try fixture.store.writeAndWait {
                    try $0.set(viewers.map { GrantChange($0, permission) }, of: share.number)
                }
                return fixture.store.groupRoundTrips - before
            }
            let one = try set(viewers.prefix(1), .readOnly)
            for permission in [SharePermission.readOnly, .readWrite, nil] {
                #expect(try set(viewers[...], permission) == one)
                let keys = viewers.map { GrantKey($0, .shares([share.number])) }
                let grants = try fixture.store.read { try $0.grants(keys) }
                #expect(grants.count == 200)
                #expect(grants.allSatisfy { $0.first?.permission == permission })
            }
            #expect(try fixture.store.problems() == [])
        }

        @Test("A tree that a write of a group shares is known to the writes behind it")
        func trees() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            let zone = fixture.zone
            let outcome = Mutex<[Bool]>([])
            let done = DispatchGroup()
            let load = WriteLoad { [needs = fixture.needs(["root"])] in needs }
            func step(_ body: @escaping @Sendable (any StoreTransaction) throws -> Void) {
                done.enter()
                fixture.store.write(load) { transaction in
                    try body(transaction)
                    let found = try transaction.keepsTrees(zone.number)
                    outcome.withLock { $0.append(found) }
                } completion: { _ in
                    done.leave()
                }
            }
            step { _ in }
            step { transaction in
                _ = try transaction.makeShare(
                    in: zone.number, record: RecordNumber(2), root: RecordNumber(1),
                    publicPermission: .none)
            }
            step { _ in }
            #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
            #expect(outcome.withLock { $0 } == [false, true, true])
        }

        @Test("A write that fails after it was told of is undone alone")
        func isolation() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            struct Refusal: Error {}
            let done = DispatchGroup()
            let zone = fixture.zone.number
            for number in 0..<60 {
                done.enter()
                fixture.write(["a\(number)"], caller: 5) { _ in done.leave() }
                done.enter()
                fixture.store.write(WriteLoad(caller: StoreCaller(6))) { transaction in
                    _ = try transaction.makeZone(
                        named: #require(ZoneName("lost\(number)")),
                        ofOwnerNamed: #require(GroupFixture.user))
                    // Asks behind what was made, which the server then knows.
                    _ = try transaction.zone(zone)
                    throw Refusal()
                } completion: { (_: Result<Void, any Error>) in
                    done.leave()
                }
            }
            #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
            #expect(try fixture.names() == 60)
            let zones = try fixture.store.read { try $0.zones(of: fixture.zone.owner).count }
            #expect(zones == 1)
            #expect(try fixture.store.problems() == [])
        }

        /// Where a connection is cut, and whether the write is there then.
        struct Lost: Sendable {
            let word: String
            let cut: CuttingProxy.Cut
            let isThere: Bool

            static let all = [
                // A group that has not begun yet begins in another session.
                Lost(word: "READ COMMITTED", cut: .before, isThere: true),
                // The mark goes together with the commit.
                Lost(word: "group_marks", cut: .before, isThere: false),
                Lost(word: "group_marks", cut: .after, isThere: true),
            ]
        }

        @Test(
            "What became of a commit whose answer is lost is found by its mark", arguments: Lost.all
        )
        func lostAnswer(_ lost: Lost) throws {
            let proxy = try CuttingProxy(before: PostgreSQLServer.shared())
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            // Its session for groups begins with the first of them, so the texts pass once.
            let fixture = try Proxied(location, proxy)
            proxy.cut(lost.cut, at: lost.word)
            let outcome = Result { try fixture.makeOwner(fixture.user) }
            #expect(proxy.cuts == 1)
            if lost.isThere {
                try outcome.get()
            } else {
                #expect(throws: StorageFailure.self) { try outcome.get() }
            }
            let owner = try fixture.store.read { try $0.owner(named: fixture.user) }
            #expect((owner != nil) == lost.isThere)
            // The committer goes on.
            try fixture.makeOwner(fixture.other)
            #expect(try fixture.store.problems() == [])
        }

        @Test("A server that starts again ends no store: what comes meanwhile is told to try again")
        func restart() throws {
            let server = try PostgreSQLServer()
            let location = try PostgreSQLLocation(on: server)
            let fixture = try GroupFixture(location) { $0.connection.connectSecondsMax = 5 }
            try fixture.save(["a"])
            try server.stop()
            #expect(throws: StorageFailure.self) { try fixture.save(["b"]) }
            #expect(throws: StorageFailure.self) { try fixture.names() }
            try server.start()
            try fixture.save(["c"])
            #expect(try fixture.names() == 2)
            try server.crash()
            #expect(try fixture.names() == 2)
            try fixture.save(["d"])
            #expect(try fixture.names() == 3)
            #expect(try fixture.store.problems() == [])
        }

        @Test("On another server of the cluster another life begins, and no number comes again")
        func lives() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            try fixture.save(["a"])
            let before = try fixture.store.identity
            let other = try Connection(fixture.location.connection)
            // As if the last write had gone to the server before a promotion.
            _ = try other.run("UPDATE progress SET timeline = timeline - 1")
            try fixture.save(["b"])
            let after = try fixture.store.identity
            #expect(after.incarnation != before.incarnation)
            #expect(after.previous == before.incarnation)
            #expect(after.knows(before.incarnation, through: before.last))
            #expect(!after.knows(before.incarnation, through: before.last + 1))
            #expect(after.last > before.last + 1_000_000)
            try fixture.save(["c"])
            #expect(try fixture.store.identity.incarnation == after.incarnation)
        }

        @Test("The counter's row is written in place, whatever is written beside it")
        func inPlace() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            for number in 0..<200 { try fixture.save(["r\(number)"]) }
            fixture.location.close(fixture.store)
            let connection = try Connection(fixture.location.connection)
            var counts = (all: Int64(0), inPlace: Int64(0))
            // The server counts beside what it does.
            try Wait.until {
                let rows = try connection.run(
                    """
                    SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
                    WHERE relname = 'progress'
                    """)
                counts = (rows.number(0, 0), rows.number(0, 1))
                return counts.all >= 200
            }
            #expect(counts.inPlace * 10 >= counts.all * 9, "\(counts)")
        }

        @Test("Marks of groups are few, also where every other group has written nothing")
        func marks() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            // The zone is the first group; so those that save have odd numbers.
            for number in 0..<600 {
                try fixture.store.writeAndWait { _ in }
                try fixture.save(["r\(number)"])
            }
            let connection = try Connection(fixture.location.connection)
            let marks = try connection.run("SELECT count(*) FROM group_marks").number(0, 0)
            #expect(marks > 0 && marks < 400, "\(marks)")
        }

        @Test("A look for work of any kind takes one round trip more")
        func work() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            let kinds: [WorkKind] = [.cover, .deleteSources, .collect, .tellRequests]
            try fixture.store.writeAndWait { try $0.enqueue(.collect) }
            let before = fixture.store.groupRoundTrips
            let found = try fixture.store.writeAndWait { transaction in
                var turn = WorkTurn(WorkHolder(1), kinds)
                turn.subjects = [.cover: 7, .collect: 7]
                return try transaction.takeWork(&turn)
            }
            #expect(found?.task == .collect)
            #expect(fixture.store.groupRoundTrips - before == 3)
        }

        @Test("A version that is not what was written is never handed out, and is told of")
        func damage() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            try fixture.save(["a", "b"])
            let connection = try Connection(fixture.location.connection)
            _ = try connection.run(
                "UPDATE records SET body = '{ ' WHERE name = $1", .text("a"))
            #expect(throws: DamagedVersion.self) { try fixture.names() }
            #expect(try fixture.store.problems().count == 1)
            let found = try fixture.store.read { snapshot in
                var found: [Bool] = []
                try snapshot.current(
                    of: [#require(RecordName("a")), #require(RecordName("b"))],
                    in: fixture.zone.number, inOrder: true
                ) {
                    found.append($1.isDamaged)
                    return true
                }
                return found
            }
            #expect(found == [true, false])
        }
    }

    /// A store that is reached through a proxy.
    private struct Proxied {
        let store: PostgreSQLStore
        let user: UserRecordName
        let other: UserRecordName

        init(_ location: PostgreSQLLocation, _ proxy: CuttingProxy) throws {
            user = try #require(UserRecordName("_00000000000000000000000000000002"))
            other = try #require(UserRecordName("_00000000000000000000000000000003"))
            let address = location.connection.address.replacing(
                try PostgreSQLServer.shared().folder, with: proxy.folder)
            store = try location.openPostgreSQLStore { $0.connection.address = address }
        }

        func makeOwner(_ name: UserRecordName) throws {
            let shelf = try #require(GroupFixture.shelf)
            _ = try store.writeAndWait { try $0.makeZone(named: shelf, ofOwnerNamed: name) }
        }
    }
#endif
