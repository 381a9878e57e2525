import CloudModel

/// Identifies subscriptions: whose they are, and in which of their databases.
package struct SubscriptionOwner: Hashable, Sendable {
    /// A user, or the user that a server key is by itself.
    package let user: UserRecordName
    package let scope: DatabaseScope

    package init(user: UserRecordName, scope: DatabaseScope) {
        self.user = user
        self.scope = scope
    }
}

/// What a record must have for a query subscription to fire: a field with a text or a whole number.
///
/// Values that may be equal have the same form here.
package struct SubscriptionMatch: Hashable, Sendable {
    package let field: String
    package let value: [UInt8]

    package init(field: String, value: [UInt8]) {
        self.field = field
        self.value = value
    }
}

/// A subscription as the code that makes notices sees it.
package struct WatchingSubscription: Sendable, Equatable {
    package let owner: SubscriptionOwner
    package let subscription: Subscription
    /// The subscription hears only of changes after this position.
    package let since: Position

    package init(owner: SubscriptionOwner, subscription: Subscription, since: Position) {
        self.owner = owner
        self.subscription = subscription
        self.since = since
    }
}

/// What a read sees of subscriptions.
package protocol SubscriptionReading {
    /// The subscriptions that some keys lead to, those of one owner in the order of their IDs' UTF-8 bytes.
    func subscriptions(_ keys: SubscriptionKeys) throws -> [WatchingSubscription]

    /// The subscriptions in all databases, by user, database and ID; for operators.
    ///
    /// Searched by their IDs, and then by ID, user and database.
    ///
    /// - Parameter user: whose; nil for everybody's.
    /// - Throws: `UnusableCursor`.
    func allSubscriptions(
        of user: UserRecordName?, _ request: ListRequest
    ) throws -> ListPage<WatchingSubscription>

    /// A number that moves with every change of a subscription or a destination.
    func subscriptionRevision() throws -> Int64

    /// The fields that the public database's subscriptions on a record type ask for a match in.
    func fieldsRequired(of type: RecordTypeName) throws -> [String]

    /// The users who have subscriptions in their shared databases and see something of a zone.
    func watchers(ofShared zone: ZoneNumber) throws -> [UserRecordName]
}

/// What subscriptions are looked for by.
package enum SubscriptionKeys: Sendable {
    case ids([SubscriptionID], of: SubscriptionOwner)
    case owner(SubscriptionOwner)
    /// Those of the public database on a record type that ask for this match; nil for those without one.
    case publicOnes(RecordTypeName, requiring: SubscriptionMatch?)
}

extension SubscriptionReading {
    package func subscription(
        _ id: SubscriptionID, of owner: SubscriptionOwner
    ) throws -> Subscription? {
        try subscriptions(.ids([id], of: owner)).first?.subscription
    }

    /// The subscriptions of an owner.
    package func subscriptions(of owner: SubscriptionOwner) throws -> [Subscription] {
        try subscriptions(.owner(owner)).map(\.subscription)
    }

    /// Whether anybody has a subscription.
    package func hasSubscriptions() throws -> Bool {
        try !allSubscriptions(of: nil, ListRequest(limit: 1)).items.isEmpty
    }
}

/// What a write does with subscriptions.
package protocol SubscriptionWriting {
    /// Stores subscriptions, each in place of one with the same ID, after it has deleted others; what is stored hears of
    /// changes from now on.
    ///
    /// - Parameter ids: of those that are deleted, whether there is one or not.
    func save(
        _ subscriptions: [NewSubscription], removing ids: [SubscriptionID],
        of owner: SubscriptionOwner) throws
}

/// A subscription to be stored.
package struct NewSubscription: Sendable {
    package let subscription: Subscription
    /// What a record must have for it to fire; nil when that is not known.
    package let match: SubscriptionMatch?

    package init(_ subscription: Subscription, requiring match: SubscriptionMatch?) {
        self.subscription = subscription
        self.match = match
    }
}

extension SubscriptionWriting {
    /// Stores one subscription.
    package func save(
        _ subscription: Subscription, of owner: SubscriptionOwner,
        requiring match: SubscriptionMatch?
    ) throws {
        try save([NewSubscription(subscription, requiring: match)], removing: [], of: owner)
    }

    /// Deletes one subscription; does nothing when there is none.
    package func deleteSubscription(
        _ id: SubscriptionID, of owner: SubscriptionOwner
    ) throws { try save([], removing: [id], of: owner) }
}
