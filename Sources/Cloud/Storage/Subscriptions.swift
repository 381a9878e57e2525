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

/// What a record must have for a query subscription to fire: text or a whole number in a field, in a
/// form in which all that may be equal is the same.
package struct SubscriptionMatch: Hashable, Sendable {
    package let field: String
    package let value: [UInt8]

    package init(field: String, value: [UInt8]) {
        self.field = field
        self.value = value
    }
}

/// A subscription as whoever tells of changes sees it.
package struct WatchingSubscription: Sendable, Equatable {
    package let owner: SubscriptionOwner
    package let subscription: Subscription
    /// Changes through this position are none of its.
    package let since: Position

    package init(owner: SubscriptionOwner, subscription: Subscription, since: Position) {
        self.owner = owner
        self.subscription = subscription
        self.since = since
    }
}

/// What a read sees of subscriptions.
package protocol SubscriptionReading {
    func subscription(_ id: SubscriptionID, of owner: SubscriptionOwner) throws -> Subscription?

    /// In the order of their IDs' UTF-8 bytes.
    func subscriptions(of owner: SubscriptionOwner) throws -> [Subscription]

    /// Moves with every change of a subscription or a destination.
    func subscriptionRevision() throws -> Int64

    /// Whether anybody has a subscription.
    func hasSubscriptions() throws -> Bool

    /// A user's, with what tells of changes needs to know.
    func watching(of owner: SubscriptionOwner) throws -> [WatchingSubscription]

    /// Those of the public database on a record type that ask for a certain match; nil for none.
    func watchingPublic(
        _ type: RecordTypeName, requiring match: SubscriptionMatch?
    ) throws -> [WatchingSubscription]

    /// The fields that subscriptions of the public database on a record type require something of.
    func fieldsRequired(of type: RecordTypeName) throws -> [String]

    /// Those who have subscriptions in their shared databases and are shown something of a zone.
    func watchers(ofShared zone: ZoneNumber) throws -> [UserRecordName]
}

/// What a write does with subscriptions.
package protocol SubscriptionWriting {
    /// Keeps a subscription, in place of the one that has its ID; it hears of changes from now on.
    ///
    /// - Parameter match: what a record must have for it to fire; nil where that is not known.
    func save(
        _ subscription: Subscription, of owner: SubscriptionOwner,
        requiring match: SubscriptionMatch?) throws

    /// Does nothing when there is none.
    func deleteSubscription(_ id: SubscriptionID, of owner: SubscriptionOwner) throws

    /// Deletes all that a user has in all databases.
    func deleteSubscriptions(of user: UserRecordName) throws
}
