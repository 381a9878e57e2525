import CloudModel

/// A user's subscriptions in one database, as the operations so far have left them.
struct StoredSubscriptions {
    private var byID: [SubscriptionID: Subscription]
    /// Of what is the same to watch, a user has one; this finds it without a look at all the others.
    private var byWatched: [Watched: SubscriptionID]

    init(_ subscriptions: [Subscription]) {
        byID = Dictionary(uniqueKeysWithValues: subscriptions.map { ($0.id, $0) })
        byWatched = Dictionary(
            subscriptions.map { (Watched($0), $0.id) }, uniquingKeysWith: { first, _ in first })
    }

    var count: Int { byID.count }

    subscript(id: SubscriptionID) -> Subscription? { byID[id] }

    /// Whether a subscription of another ID tells of the same changes.
    func hasAnother(watchingTheSameAs subscription: Subscription) -> Bool {
        byWatched[Watched(subscription)].map { $0 != subscription.id } ?? false
    }

    mutating func keep(_ subscription: Subscription) {
        remove(subscription.id)
        byID[subscription.id] = subscription
        byWatched[Watched(subscription)] = subscription.id
    }

    mutating func remove(_ id: SubscriptionID) {
        guard let gone = byID.removeValue(forKey: id) else { return }
        let watched = Watched(gone)
        if byWatched[watched] == id { byWatched[watched] = nil }
    }

    /// What a subscription tells of; a long query is hashed as a whole, where an array hashes byte by byte.
    private struct Watched: Hashable {
        private let watched: Subscription.Watched
        private let query: [UInt8]

        init(_ subscription: Subscription) {
            (watched, query) = (subscription.watched, subscription.query ?? [])
        }

        static func == (one: Self, other: Self) -> Bool { one.watched == other.watched }

        func hash(into hasher: inout Hasher) {
            query.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
