import CloudModel
import Storage

// What users wait to hear of.
extension StoragePromise {
    private static func subscription(_ id: String, zone: String? = nil) -> Subscription {
        Subscription(
            id: TestStore.name(SubscriptionID(id)), kind: .zone,
            zone: zone.map { TestStore.zone($0) })
    }

    static let subscriptions = [
        StoragePromise("A subscription is kept as it was given, and replaced by its ID") {
            testStore in
            let owner = SubscriptionOwner(user: TestStore.user(1), scope: .private)
            let all = [
                Subscription(
                    id: TestStore.name(SubscriptionID("q")), kind: .query,
                    recordType: TestStore.type,
                    zone: TestStore.zone("Shelf"), firesOn: [.create, .delete], firesOnce: true,
                    query: Array(#"{"recordType":"Note"}"#.utf8),
                    notificationInfo: Array(#"{"alertBody":"é"}"#.utf8)),
                subscription("z", zone: "Shelf"),
                Subscription(id: TestStore.name(SubscriptionID("d")), kind: .database),
            ]
            try testStore.write { transaction in
                for one in all { try transaction.save(one, of: owner, requiring: nil) }
                try expect(transaction.subscriptions(of: owner).count, is: 3)
            }
            try testStore.reopen()
            try testStore.read { snapshot in
                for one in all {
                    try expect(snapshot.subscription(one.id, of: owner) == one)
                }
                try expect(snapshot.subscriptions(of: owner) == [all[2], all[0], all[1]])
            }
            let other = subscription("q", zone: "Other")
            try testStore.write { try $0.save(other, of: owner, requiring: nil) }
            try testStore.read { snapshot in
                try expect(snapshot.subscription(other.id, of: owner) == other)
                try expect(snapshot.subscriptions(of: owner).count, is: 3)
            }
        },
        StoragePromise("Subscriptions lie in the order of their IDs' bytes") { testStore in
            let owner = SubscriptionOwner(user: TestStore.user(1), scope: .public)
            let ids = ["b", "B", "a", "é", "z", "1", "10", "9", "中", "a b", "~"]
            try testStore.write { transaction in
                for id in ids { try transaction.save(subscription(id), of: owner, requiring: nil) }
            }
            let found = try testStore.read { try $0.subscriptions(of: owner).map(\.id.text) }
            try expect(
                found, is: ids.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
        },
        StoragePromise("Who tells of changes finds the subscriptions that may be concerned") {
            testStore in
            let match = SubscriptionMatch(field: "f", value: [1, 0, 255])
            func query(_ id: String) -> Subscription {
                Subscription(
                    id: TestStore.name(SubscriptionID(id)), kind: .query,
                    recordType: TestStore.type,
                    firesOn: [.create], query: Array("{}".utf8))
            }
            let (some, any) = (query("some"), query("any"))
            let one = SubscriptionOwner(user: TestStore.user(1), scope: .public)
            let two = SubscriptionOwner(user: TestStore.user(2), scope: .public)
            try expect(testStore.read { try $0.hasSubscriptions() }, is: false)
            let before = try testStore.read { try $0.subscriptionRevision() }
            _ = try testStore.makeZone()
            try testStore.write { transaction in
                try transaction.save(some, of: one, requiring: match)
                try transaction.save(any, of: two, requiring: nil)
            }
            let between = try testStore.read { snapshot in
                try expect(snapshot.hasSubscriptions())
                let found = try snapshot.subscriptions(.owner(one))
                try expect(found.map(\.subscription) == [some] && found[0].owner == one)
                try expect(found[0].since <= snapshot.lastPosition())
                func watching(_ match: SubscriptionMatch?) throws -> [SubscriptionOwner] {
                    try snapshot.subscriptions(.publicOnes(TestStore.type, requiring: match)).map(
                        \.owner)
                }
                try expect(watching(match), is: [one])
                try expect(watching(nil), is: [two])
                try expect(watching(SubscriptionMatch(field: "f", value: [1])).isEmpty)
                try expect(snapshot.fieldsRequired(of: TestStore.type), is: ["f"])
                return try snapshot.subscriptionRevision()
            }
            try expect(between != before)
            try testStore.write { try $0.forget(TestStore.user(1)) }
            let id = any.id
            try testStore.write { try $0.deleteSubscription(id, of: two) }
            try testStore.read { snapshot in
                try expect(!snapshot.hasSubscriptions())
                try expect(snapshot.subscriptionRevision() != between)
                try expect(snapshot.fieldsRequired(of: TestStore.type).isEmpty)
            }
        },
        StoragePromise("Who watches what is shared with them is found by a zone that they see") {
            testStore in
            let zone = try testStore.makeZone()
            let other = try testStore.makeZone("Other")
            let (share, far) = try testStore.write { transaction in
                (
                    try Tree("t", in: zone, transaction).share,
                    try Tree("t", in: other, transaction).share
                )
            }
            try testStore.write { transaction in
                // The first two see the zone and watch it; others do only one of both, or elsewhere.
                for user in [2, 3, 4] {
                    try transaction.grant(share, to: TestStore.user(user), permission: .readOnly)
                }
                try transaction.grant(far, to: TestStore.user(5), permission: .readOnly)
                for (user, scope): (Int, DatabaseScope) in [
                    (3, .shared), (2, .shared), (4, .private), (5, .shared), (6, .shared),
                ] {
                    let owner = SubscriptionOwner(user: TestStore.user(user), scope: scope)
                    for id in ["a", "b"] {
                        try transaction.save(subscription(id), of: owner, requiring: nil)
                    }
                }
            }
            func watchers() throws -> [UserRecordName] {
                try testStore.read { try $0.watchers(ofShared: zone.number) }
                    .sorted { $0.text < $1.text }
            }
            try expect(watchers(), is: [TestStore.user(2), TestStore.user(3)])
            try testStore.write { try $0.revoke(share.number, from: TestStore.user(2)) }
            try expect(watchers(), is: [TestStore.user(3)])
            try testStore.write { try $0.forget(TestStore.user(3)) }
            try expect(watchers().isEmpty)
        },
        StoragePromise("Subscriptions are their user's, in one database, until they are deleted") {
            testStore in
            let owners = (1...2).flatMap { user in
                [DatabaseScope.public, .private, .shared].map {
                    SubscriptionOwner(user: TestStore.user(user), scope: $0)
                }
            }
            try testStore.write { transaction in
                for owner in owners {
                    try transaction.save(subscription("s"), of: owner, requiring: nil)
                }
            }
            let id = subscription("s").id
            try testStore.write { try $0.deleteSubscription(id, of: owners[0]) }
            try testStore.write { try $0.deleteSubscription(id, of: owners[0]) }
            func left() throws -> [Bool] {
                try owners.map { owner in
                    try testStore.read { try $0.subscription(id, of: owner) != nil }
                }
            }
            try expect(left(), is: [false, true, true, true, true, true])
            try testStore.read { snapshot in
                try expect(
                    Set(snapshot.allSubscriptions(of: nil, ListRequest()).items.map(\.owner)),
                    is: Set(owners.dropFirst()))
                try expect(
                    snapshot.allSubscriptions(of: TestStore.user(1), ListRequest()).items
                        .map(\.owner),
                    is: Array(owners[1...2]))
            }
            try testStore.write { try $0.forget(TestStore.user(1)) }
            try expect(left(), is: [false, false, false, true, true, true])
        },
        StoragePromise(
            "Who is forgotten leaves nothing by which they are told; others stay as they are"
        ) {
            testStore in
            let (gone, other) = (TestStore.user(1), TestStore.user(2))
            let zone = try testStore.makeZone()
            @Sendable func token(_ user: UserRecordName) -> ClientTokenKey {
                ClientTokenKey(zone: zone.number, user: user, device: "d")
            }
            try testStore.write { transaction in
                let share = try Tree("t", in: zone, transaction).share.number
                for (key, user): (UInt8, UserRecordName) in [(1, gone), (2, other)] {
                    let owner = SubscriptionOwner(user: user, scope: .private)
                    try transaction.save(subscription("s"), of: owner, requiring: nil)
                    _ = try transaction.register(
                        NewDestination(kind: .courier, key: [key], user: user))
                    try transaction.setClientToken([key], token(user), devicesMax: 9)
                    try transaction.ask(user, for: share)
                }
            }
            try testStore.write { try $0.forget(gone) }
            for (user, count): (UserRecordName, Int) in [(gone, 0), (other, 1)] {
                try testStore.read { snapshot in
                    try expect(
                        snapshot.allSubscriptions(of: user, ListRequest()).items.count, is: count)
                    try expect(snapshot.destinations(of: user).count, is: count)
                    try expect(snapshot.clientToken(token(user)) == (count == 0 ? nil : [2]))
                    try expect(snapshot.accessRequestCount(of: user, since: 0), is: count)
                }
            }
        },
    ]
}
