import CloudModel
import Storage

// What users wait to hear of.
extension StoragePromise {
    private static func subscription(_ id: String, zone: String? = nil) -> Subscription {
        Subscription(
            id: Trial.name(SubscriptionID(id)), kind: .zone, zone: zone.map { Trial.zone($0) })
    }

    static let subscriptions = [
        StoragePromise("A subscription is kept as it was given, and replaced by its ID") { trial in
            let owner = SubscriptionOwner(user: Trial.user(1), scope: .private)
            let all = [
                Subscription(
                    id: Trial.name(SubscriptionID("q")), kind: .query, recordType: Trial.type,
                    zone: Trial.zone("Shelf"), firesOn: [.create, .delete], firesOnce: true,
                    query: Array(#"{"recordType":"Note"}"#.utf8),
                    notificationInfo: Array(#"{"alertBody":"é"}"#.utf8)),
                subscription("z", zone: "Shelf"),
                Subscription(id: Trial.name(SubscriptionID("d")), kind: .database),
            ]
            try trial.write { transaction in
                for one in all { try transaction.save(one, of: owner, requiring: nil) }
                try expect(transaction.subscriptions(of: owner).count, is: 3)
            }
            try trial.reopen()
            try trial.read { snapshot in
                for one in all {
                    try expect(snapshot.subscription(one.id, of: owner) == one)
                }
                try expect(snapshot.subscriptions(of: owner) == [all[2], all[0], all[1]])
            }
            let other = subscription("q", zone: "Other")
            try trial.write { try $0.save(other, of: owner, requiring: nil) }
            try trial.read { snapshot in
                try expect(snapshot.subscription(other.id, of: owner) == other)
                try expect(snapshot.subscriptions(of: owner).count, is: 3)
            }
        },
        StoragePromise("Subscriptions lie in the order of their IDs' bytes") { trial in
            let owner = SubscriptionOwner(user: Trial.user(1), scope: .public)
            let ids = ["b", "B", "a", "é", "z", "1", "10", "9", "中", "a b", "~"]
            try trial.write { transaction in
                for id in ids { try transaction.save(subscription(id), of: owner, requiring: nil) }
            }
            let found = try trial.read { try $0.subscriptions(of: owner).map(\.id.text) }
            try expect(
                found, is: ids.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
        },
        StoragePromise("Subscriptions are their user's, in one database, until they are deleted") {
            trial in
            let owners = (1...2).flatMap { user in
                [DatabaseScope.public, .private, .shared].map {
                    SubscriptionOwner(user: Trial.user(user), scope: $0)
                }
            }
            try trial.write { transaction in
                for owner in owners {
                    try transaction.save(subscription("s"), of: owner, requiring: nil)
                }
            }
            let id = subscription("s").id
            try trial.write { try $0.deleteSubscription(id, of: owners[0]) }
            try trial.write { try $0.deleteSubscription(id, of: owners[0]) }
            func left() throws -> [Bool] {
                try owners.map { owner in
                    try trial.read { try $0.subscription(id, of: owner) != nil }
                }
            }
            try expect(left(), is: [false, true, true, true, true, true])
            try trial.write { try $0.deleteSubscriptions(of: Trial.user(1)) }
            try expect(left(), is: [false, false, false, true, true, true])
        },
    ]
}
