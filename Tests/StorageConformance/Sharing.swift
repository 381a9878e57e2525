import CloudModel
import Storage

// Shares, what they cover, and who is granted them.
extension StoragePromise {
    /// A tree that is shared: a root, its share record, and children, all in the share.
    struct Tree: Sendable {
        let share: StoredShare
        let root: StoredHead
        var children: [StoredHead] = []

        init(
            _ name: String, in zone: StoredZone, children count: Int = 0,
            _ transaction: any StoreTransaction
        ) throws {
            let root = try transaction.save(name, in: zone, flags: .root)
            let record = try transaction.save("\(name)-share", in: zone, flags: .share)
            share = try transaction.makeShare(
                in: zone.number, record: record.record, root: root.record, publicPermission: .none)
            self.root = root
            for head in [root, record] { try Self.enter(head, share, transaction) }
            for number in 0..<count {
                let parent = Link(
                    targetZone: zone.number, target: TestStore.record(name), kind: .parent)
                let child = try transaction.save("\(name)-\(number)", in: zone, links: [parent])
                try Self.enter(child, share, transaction)
                children.append(child)
            }
        }

        static func enter(
            _ head: StoredHead, _ share: StoredShare, _ transaction: any StoreTransaction
        ) throws {
            let position = try transaction.takePosition()
            let type = try transaction.schema.types[TestStore.type]?.number ?? 0
            try transaction.move(
                MembershipMove(
                    head.record, at: position,
                    into: .init(share.number, version: head.position, type: type)))
        }
    }

    static let shares = [
        StoragePromise("A share is found by its number, its root and its record while it stands") {
            testStore in
            let zone = try testStore.makeZone()
            let tree = try testStore.write { try Tree("t", in: zone, $0) }
            try testStore.write {
                var share = tree.share
                share.publicPermission = .readOnly
                try $0.save(share)
                try $0.save("t", in: zone, shortGUID: "guid")
                try $0.save("t", in: zone, shortGUID: "other")
            }
            try testStore.read { snapshot in
                for found in try [
                    snapshot.share(tree.share.number), snapshot.share(ofRoot: tree.root.record),
                    snapshot.share(ofRecord: tree.share.record),
                    snapshot.shares(in: zone.number, limit: 5).first,
                ] {
                    try expect(found?.number == tree.share.number && found?.ended == nil)
                    try expect(found?.publicPermission == .readOnly)
                }
                let keys = [tree.share.record, RecordNumber(999_999), tree.root.record]
                let either = try snapshot.shares(.rootsOrRecords(keys)).map { $0?.number }
                try expect(either == [tree.share.number, nil, tree.share.number])
                try expect(snapshot.record(ofShortGUID: "guid") == tree.root.record)
                try expect(snapshot.shortGUID(of: tree.root.record) == "guid")
                try expect(snapshot.record(ofShortGUID: "other") == nil)
                try expect(snapshot.isWhole(tree.share.number) && snapshot.isWhole(zone.number))
            }
            try expect(testStore.write { try $0.keepsTrees(zone.number) })
            try testStore.write { transaction in
                try transaction.save("t", in: zone)
                try transaction.writeTombstone("t-share", in: zone)
                try transaction.endShare(tree.share.number)
            }
            try testStore.read { snapshot in
                try expect(snapshot.share(tree.share.number)?.ended != nil)
                try expect(snapshot.share(ofRoot: tree.root.record) == nil)
                try expect(snapshot.share(ofRecord: tree.share.record) == nil)
                try expect(
                    snapshot.shares(.rootsOrRecords([tree.root.record, tree.share.record]))
                        == [nil, nil])
                try expect(snapshot.shares(in: zone.number, limit: 5).isEmpty)
                try expect(snapshot.currentMembership(of: tree.root.record) == nil)
                try expect(snapshot.record(ofShortGUID: "guid") == tree.root.record)
            }
        },
        StoragePromise("A write that fails to end a share leaves a zone with a tree to keep") {
            testStore in
            struct Refusal: Error {}
            let zone = try testStore.makeZone()
            try expect(!testStore.write { try $0.keepsTrees(zone.number) })
            let tree = try testStore.write { try Tree("t", in: zone, $0) }
            try expectFailure(Refusal.self) {
                try testStore.write { transaction in
                    try transaction.save("t", in: zone)
                    try transaction.writeTombstone("t-share", in: zone)
                    try transaction.endShare(tree.share.number)
                    try expect(!transaction.keepsTrees(zone.number))
                    throw Refusal()
                }
            }
            try expect(testStore.write { try $0.keepsTrees(zone.number) })
        },
        StoragePromise("Participants are found by share, by user and by address") { testStore in
            let zone = try testStore.makeZone()
            let share = try testStore.write { try Tree("t", in: zone, $0).share.number }
            let people = [
                StoredParticipant(
                    id: "1", user: TestStore.user(2), address: nil, role: .privateUser,
                    permission: .readOnly, status: .accepted),
                StoredParticipant(
                    id: "2", user: nil, address: "a@b.example", role: .privateUser,
                    permission: .readWrite, status: .invited),
            ]
            try testStore.write { transaction in
                for person in people { try transaction.save(person, of: share) }
                var changed = people[0]
                changed.permission = .readWrite
                try transaction.save(changed, of: share)
            }
            try testStore.read { snapshot in
                try expect(snapshot.participants(of: share).count, is: 2)
                let mine = try snapshot.participations(of: TestStore.user(2))
                try expect(mine.map(\.0) == [share] && mine.first?.1.permission == .readWrite)
                try expect(
                    snapshot.invitations(to: "a@b.example").map(\.1) == [people[1]])
            }
            try testStore.write { try $0.removeParticipant("2", of: share) }
            try expect(testStore.read { try $0.invitations(to: "a@b.example").isEmpty })
        },
        StoragePromise("Where a viewer's feed begins is told once their lost zones are collected") {
            testStore in
            let zone = try testStore.makeZone()
            let viewer = TestStore.user(2)
            try expect(testStore.read { try $0.viewer(viewer).oldestValidPosition }, is: 0)
            let share = try testStore.write { try Tree("t", in: zone, $0).share }
            try testStore.write { try $0.grant(share, to: viewer, permission: .readOnly) }
            try testStore.write { try $0.deleteZone(zone) }
            let ended = try require(
                testStore.read { try $0.view(of: viewer, in: zone.number)?.ended })
            let moment = testStore.clock.now + 1
            while try testStore.write({ try $0.collect(olderThan: moment, limit: 5) }) {}
            try expect(testStore.read { try $0.viewer(viewer).oldestValidPosition } >= ended)
            try expect(
                testStore.read { try $0.viewer(TestStore.user(3)).oldestValidPosition }, is: 0)
        },
        StoragePromise(
            "What several viewers may do with a share is set at once, each at a position"
        ) {
            testStore in
            let zone = try testStore.makeZone()
            let share = try testStore.write { try Tree("t", in: zone, $0).share }
            let viewers = (2..<6).map(TestStore.user)
            func set(_ permissions: [SharePermission?]) throws -> [[StoredGrant]] {
                try testStore.write { transaction in
                    try transaction.set(
                        zip(viewers, permissions).map { GrantChange($0, $1) }, of: share.number)
                }
                return try testStore.read { snapshot in
                    try snapshot.grants(
                        viewers.map { GrantKey($0, .changed(in: zone.number, after: 0)) })
                }
            }
            let first = try set([.readOnly, nil, .readWrite, .readOnly])
            try expect(
                first.map { $0.first?.permission }, is: [.readOnly, nil, .readWrite, .readOnly])
            let second = try set([.readWrite, .readOnly, nil, .readOnly])
            try expect(second.map { $0.first?.revoked == nil }, is: [true, true, false, true])
            try expect(second[0].first?.permission, is: .readWrite)
            try expect(second[0].first?.granted, is: first[0].first?.granted)
            let positions = [
                first[0].first?.changed, first[2].first?.changed, first[3].first?.changed,
                second[1].first?.changed, second[2].first?.changed,
            ].compactMap { $0 }
            try expect(positions.count == 5 && positions == Set(positions).sorted())
        },
        StoragePromise("A viewer has a zone from their first grant in it to the end of the last") {
            testStore in
            let zone = try testStore.makeZone()
            let viewer = TestStore.user(2)
            let (one, two) = try testStore.write { transaction in
                (
                    try Tree("one", in: zone, transaction).share,
                    try Tree("two", in: zone, transaction).share
                )
            }
            func view() throws -> StoredView? {
                try testStore.read { try $0.view(of: viewer, in: zone.number) }
            }
            try expect(view() == nil)
            try testStore.write { try $0.grant(one, to: viewer, permission: .readOnly) }
            let since = try require(view()).since
            try testStore.write { try $0.grant(two, to: viewer, permission: .readWrite) }
            try testStore.write { try $0.grant(two, to: viewer, permission: .readOnly) }
            try testStore.read { snapshot in
                try expect(snapshot.grant(of: two.number, to: viewer)?.permission == .readOnly)
                try expect(
                    snapshot.views(of: viewer, .current).map(\.zone), is: [zone.number])
                let grants = try snapshot.grants(of: viewer, in: zone.number, changedAfter: 0)
                try expect(Set(grants.map(\.share)), is: [one.number, two.number])
                try expect(
                    snapshot.views(of: viewer, changedAfter: since, limit: 5).map(\.zone),
                    is: [zone.number])
            }
            try testStore.write { try $0.revoke(one.number, from: viewer) }
            try expect(view()?.ended == nil && view()?.since == since)
            try testStore.write { try $0.revoke(one.number, from: viewer) }
            try testStore.write { transaction in
                try transaction.save("two", in: zone)
                try transaction.writeTombstone("two-share", in: zone)
                try transaction.endShare(two.number)
            }
            let ended = try require(view())
            try expect(ended.ended == ended.changed && ended.changed > since)
            try testStore.read { snapshot in
                try expect(snapshot.grant(of: two.number, to: viewer) == nil)
                try expect(snapshot.views(of: viewer, .current).isEmpty)
            }
            try testStore.write { try $0.grant(one, to: viewer, permission: .readOnly) }
            try expect(view()?.ended == nil && view()?.since ?? 0 > ended.changed)
            try testStore.write { try $0.deleteZone(zone) }
            try expect(view()?.ended != nil)
        },
        StoragePromise("What has ended is neither granted nor covers anything") { testStore in
            let zone = try testStore.makeZone()
            let tree = try testStore.write { try Tree("t", in: zone, $0) }
            try testStore.write { transaction in
                try transaction.save("t", in: zone)
                try transaction.writeTombstone("t-share", in: zone)
                try transaction.endShare(tree.share.number)
            }
            try expectFailure(BrokenInvariant.self) {
                try testStore.write {
                    try $0.grant(tree.share, to: TestStore.user(2), permission: .readOnly)
                }
            }
            try expectFailure(BrokenInvariant.self) {
                try testStore.write { transaction in
                    let head = try transaction.save("x", in: zone)
                    try Tree.enter(head, tree.share, transaction)
                }
            }
            try expect(
                testStore.read { try $0.view(of: TestStore.user(2), in: zone.number) } == nil)
        },
    ]

    static let memberships = [
        StoragePromise("Memberships come in order with their versions, page by page") { testStore in
            let zone = try testStore.makeZone()
            let tree = try testStore.write { try Tree("t", in: zone, children: 120, $0) }
            var seen: [String] = []
            var location: Position = 0
            while true {
                let run = try testStore.read { snapshot in
                    try snapshot.memberships(
                        of: tree.share.number, in: zone.number, after: location, limit: 17,
                        withVersions: true)
                }
                for (index, membership) in run.memberships.enumerated() {
                    try expect(membership.position > location && membership.left == nil)
                    location = membership.position
                    let body = run.version(of: index) { TestStore.name(in: $0.body) }
                    seen.append(try require(body))
                }
                if run.isLast { break }
            }
            try expect(seen, is: ["t", "t-share"] + (0..<120).map { "t-\($0)" })
        },
        StoragePromise("Memberships of several shares come at once, each from where it is asked") {
            testStore in
            let zone = try testStore.makeZone()
            let trees = try testStore.write { transaction in
                try ["a", "b"].map { try Tree($0, in: zone, children: 5, transaction) }
            }
            let start = try testStore.read { snapshot in
                try require(
                    snapshot.memberships(
                        of: trees[0].share.number, in: zone.number, after: 0, limit: 2,
                        withVersions: false
                    ).memberships.last
                ).position
            }
            let runs = try testStore.read { snapshot in
                try snapshot.memberships(
                    [
                        .share(trees[1].share.number, after: 0, limit: 3, withVersions: true),
                        .share(trees[0].share.number, after: start, limit: 9, withVersions: false),
                    ], in: zone.number)
            }
            try expect(runs.map { $0?.memberships.count }, is: [3, 5])
            try expect(runs.map { $0?.isLast }, is: [false, true])
            try expect(runs[0]?.version(of: 0) { TestStore.name(in: $0.body) } == "b")
            try expect(
                runs[1]?.memberships.allSatisfy { $0.share == trees[0].share.number } == true)
            try expect(testStore.read { try $0.memberships([], in: zone.number).isEmpty })
        },
        StoragePromise(
            "A membership moves with its record's version, and ends where the record leaves"
        ) {
            testStore in
            let zone = try testStore.makeZone()
            let viewer = TestStore.user(2)
            let tree = try testStore.write { try Tree("t", in: zone, children: 3, $0) }
            try testStore.write { try $0.grant(tree.share, to: viewer, permission: .readOnly) }
            let start = try testStore.read {
                try require($0.view(of: viewer, in: zone.number)).changed
            }
            let (saved, gone) = (tree.children[0].record, tree.children[1].record)
            try testStore.write { transaction in
                let head = try transaction.save("t-0", in: zone)
                let membership = try require(transaction.currentMembership(of: saved))
                let type = try transaction.schema.types[TestStore.type]?.number ?? 0
                try transaction.move(
                    MembershipMove(
                        saved, at: head.position, from: membership,
                        into: .init(membership.share, version: head.position, type: type)))
                let left = try transaction.save("t-1", in: zone, links: []).position
                try transaction.move(
                    MembershipMove(
                        gone, at: transaction.takePosition(),
                        outOf: require(transaction.currentMembership(of: gone)), left: left))
            }
            try testStore.read { snapshot in
                try expect(snapshot.currentMembership(of: gone) == nil)
                try expect(snapshot.currentMembership(of: saved)?.share == tree.share.number)
                let run = try require(
                    snapshot.changedMemberships(
                        of: viewer, in: zone.number, after: start, limit: 50))
                try expect(run.isLast)
                try expect(run.memberships.map(\.record), is: [saved, gone])
                try expect(run.memberships[0].left == nil && run.memberships[1].left != nil)
                try expect(run.version(of: 0) { $0.record } == saved)
                try expect(
                    snapshot.changedMemberships(of: viewer, in: zone.number, after: start, limit: 1)
                        == nil)
                try expect(snapshot.view(of: viewer, in: zone.number)?.changed ?? 0 > start)
            }
        },
        StoragePromise("Coverage that leads to no membership of its record is refused") {
            testStore in
            let zone = try testStore.makeZone()
            let tree = try testStore.write { try Tree("t", in: zone, children: 2, $0) }
            let (one, two) = (tree.children[0].record, tree.children[1].record)
            try expectFailure(BrokenInvariant.self) {
                try testStore.write { transaction in
                    let membership = try require(transaction.currentMembership(of: one))
                    let position = try transaction.takePosition()
                    try transaction.move(
                        MembershipMove(two, at: position, outOf: membership, left: position))
                }
            }
            for share in [tree.share.number, ShareNumber(tree.share.number.value + 1)] {
                try expectFailure(BrokenInvariant.self) {
                    try testStore.write { transaction in
                        let position = try transaction.takePosition()
                        try transaction.move(
                            MembershipMove(
                                one, at: position,
                                from: CurrentMembership(share: tree.share.number, position: 1),
                                into: .init(share, version: position, type: 1)))
                    }
                }
            }
            try expect(
                testStore.read { try $0.currentMembership(of: two)?.share } == tree.share.number)
        },
        StoragePromise("A share is not whole while queued work concerns it") { testStore in
            let zone = try testStore.makeZone()
            let tree = try testStore.write { try Tree("t", in: zone, $0) }
            try testStore.write { transaction in
                let since = try transaction.takePosition()
                try transaction.enqueue(
                    .cover(tree.root.record, in: zone.number),
                    concerning: MovedChildren(of: [tree.share.number], since: since))
                let keys: [CoverageWorkKey] = [
                    .children(of: tree.root.record, concerning: tree.share.number),
                    .share(tree.share.number), .zone(zone.number),
                ]
                try expect(transaction.coverageWork(keys) == [since, since, since])
                let other = CoverageWorkKey.children(
                    of: tree.share.record, concerning: tree.share.number)
                try expect(transaction.coverageWork([other]) == [nil])
            }
            try expect(testStore.read { try !$0.isWhole(tree.share.number) })
            try expect(testStore.read { try !$0.isWhole(zone.number) })
            try testStore.write { transaction in
                var turn = WorkTurn(WorkHolder(1), [.cover])
                try transaction.finish(require(transaction.takeWork(&turn)))
            }
            try expect(
                testStore.read { try $0.isWhole(tree.share.number) && $0.isWhole(zone.number) })
        },
    ]
}
