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

    /// Appends one subscription.
    ///
    /// - Throws: `Fault` NOT_FOUND for the item.
    package func append(_ id: SubscriptionID, to writer: inout JSONWriter) throws {
        guard let owner = database.subscriptionOwner,
            let found = try snapshot.subscription(id, of: owner)
        else { throw Fault.subscriptionNotFound }
        SubscriptionJSON.append(found, owner: database.ownerRecordName, to: &writer)
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
