import CloudModel
import Storage

extension FollowerName {
    /// The follower that tells subscribers and webhooks of changes.
    package static let notices = FollowerName("notices")
}

/// Has the store note changes only while somebody is to be told of them.
package enum ChangeWatch {
    /// Begins or stops to follow, depending on the subscriptions and webhooks; in the transaction that
    /// changed them.
    package static func renew(in transaction: any StoreTransaction) throws {
        let isNeeded =
            try transaction.hasSubscriptions()
            || !transaction.destinations(ofKind: .webhook).isEmpty
        if isNeeded {
            try transaction.follow(as: .notices)
        } else if try transaction.position(of: .notices) != nil {
            try transaction.unfollow(.notices)
        }
    }

    /// Begins to follow for an owner's subscriptions, with the previous versions that they need.
    ///
    /// Whether a query fires may depend on how a record was before. And a version may be replaced before
    /// anybody looks at it; then it is only there as the previous version of the next change.
    static func begin(
        for subscriptions: [Subscription], of owner: SubscriptionOwner,
        in transaction: any StoreTransaction
    ) throws {
        let name = owner.scope == .public ? UserRecordName.publicOwner : owner.user
        let types = try transaction.schema.types
        let needs = subscriptions.compactMap { subscription in
            // The number of a type that does not exist yet is not known.
            subscription.kind == .query
                ? subscription.recordType.map {
                    PreviousVersionNeed(.owner(name), type: types[$0]?.number)
                } : nil
        }
        try transaction.follow(as: .notices, wanting: Set(needs), alone: false)
    }
}
