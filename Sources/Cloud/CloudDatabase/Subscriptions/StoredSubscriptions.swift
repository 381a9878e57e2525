import CloudModel

/// A user's subscriptions in one database, as the operations so far have left them.
struct StoredSubscriptions {
    private var byID: [SubscriptionID: Subscription]
    /// Of what is the same to watch, a user has one; this finds it without a look at all the others.
    private var byWatched: [Subscription.Watched: SubscriptionID]

    init(_ subscriptions: [Subscription]) {
        byID = Dictionary(uniqueKeysWithValues: subscriptions.map { ($0.id, $0) })
        byWatched = Dictionary(
            subscriptions.map { ($0.watched, $0.id) }, uniquingKeysWith: { first, _ in first })
    }

    var count: Int { byID.count }

    subscript(id: SubscriptionID) -> Subscription? { byID[id] }

    /// Whether a subscription of another ID tells of the same changes.
    func hasAnother(watchingTheSameAs subscription: Subscription) -> Bool {
        byWatched[subscription.watched].map { $0 != subscription.id } ?? false
    }

    mutating func keep(_ subscription: Subscription) {
        remove(subscription.id)
        byID[subscription.id] = subscription
        byWatched[subscription.watched] = subscription.id
    }

    mutating func remove(_ id: SubscriptionID) {
        guard let gone = byID.removeValue(forKey: id) else { return }
        if byWatched[gone.watched] == id { byWatched[gone.watched] = nil }
    }
}
