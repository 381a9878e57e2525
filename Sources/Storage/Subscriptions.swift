import CloudModel

/// Whose subscriptions, and in which of their databases.
package struct SubscriptionOwner: Hashable, Sendable {
    /// A user, or a server key by its own identity.
    package let user: UserRecordName
    package let scope: DatabaseScope

    package init(user: UserRecordName, scope: DatabaseScope) {
        self.user = user
        self.scope = scope
    }
}

/// What a read sees of subscriptions.
package protocol SubscriptionReading {
    func subscription(_ id: SubscriptionID, of owner: SubscriptionOwner) throws -> Subscription?

    /// In the order of their IDs' UTF-8 bytes.
    func subscriptions(of owner: SubscriptionOwner) throws -> [Subscription]
}

/// What a write does with subscriptions.
package protocol SubscriptionWriting {
    /// Keeps a subscription, in place of the one that has its ID.
    func save(_ subscription: Subscription, of owner: SubscriptionOwner) throws

    /// Does nothing when there is none.
    func deleteSubscription(_ id: SubscriptionID, of owner: SubscriptionOwner) throws

    /// Deletes all that a user has in all databases.
    func deleteSubscriptions(of user: UserRecordName) throws
}
