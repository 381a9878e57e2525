import CloudModel
import JSON
import Storage

/// Reads the caller's subscriptions in a database: all of them, or some by ID (web-services.md §4.15).
package struct ListSubscriptions {
    private let database: Database
    private let snapshot: any StoreSnapshot

    package init(_ database: Database, snapshot: any StoreSnapshot) {
        self.database = database
        self.snapshot = snapshot
    }

    /// Appends every subscription in the order of their IDs, joined by commas.
    package func appendAll(to writer: inout JSONWriter) throws {
        guard let owner = database.subscriptionOwner else { return }
        for (index, subscription) in try snapshot.subscriptions(of: owner).enumerated() {
            if index > 0 { writer.raw(",") }
            SubscriptionJSON.append(subscription, owner: database.ownerRecordName, to: &writer)
        }
    }

    /// Subscriptions by their IDs, each as an answer shows it; without those that the caller does not have.
    package func lookUp(_ ids: [SubscriptionID]) throws -> [SubscriptionID: [UInt8]] {
        guard let owner = database.subscriptionOwner else { return [:] }
        var found: [SubscriptionID: [UInt8]] = [:]
        for stored in try snapshot.subscriptions(.ids(ids, of: owner)) {
            var writer = JSONWriter(reserving: 320)
            SubscriptionJSON.append(
                stored.subscription, owner: database.ownerRecordName, to: &writer)
            found[stored.subscription.id] = writer.bytes
        }
        return found
    }
}

extension Database {
    /// The owner of the caller's subscriptions; nil for a bare API token, which has none.
    var subscriptionOwner: SubscriptionOwner? {
        caller.userRecordName.map { SubscriptionOwner(user: $0, scope: scope) }
    }
}

extension Fault {
    package static let subscriptionNotFound = Fault(.notFound, "Subscription not found")
}
