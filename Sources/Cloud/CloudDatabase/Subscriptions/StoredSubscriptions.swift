import CloudModel
import Storage

/// A user's subscriptions in one database, as the operations so far have left them.
///
/// One is read by its ID. All are read only when something is asked about the others, for they may be hundreds with
/// long queries.
struct StoredSubscriptions {
    private struct All {
        var byID: [SubscriptionID: Subscription] = [:]
        /// Of what is the same to watch, a user has one; this finds it without a look at all the others.
        var byWatched: [Watched: SubscriptionID] = [:]

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
    }

    private let transaction: any StoreTransaction
    private let owner: SubscriptionOwner
    private var all: All?

    init(of owner: SubscriptionOwner, in transaction: any StoreTransaction) {
        (self.owner, self.transaction) = (owner, transaction)
    }

    func subscription(_ id: SubscriptionID) throws -> Subscription? {
        if let all { return all.byID[id] }
        return try transaction.subscription(id, of: owner)
    }

    mutating func count() throws -> Int { try everything().byID.count }

    /// Whether a subscription of another ID tells of the same changes.
    mutating func hasAnother(watchingTheSameAs subscription: Subscription) throws -> Bool {
        try everything().byWatched[Watched(subscription)].map { $0 != subscription.id } ?? false
    }

    /// Takes note of one that was stored.
    mutating func keep(_ subscription: Subscription) { all?.keep(subscription) }

    /// Takes note of one that was deleted.
    mutating func remove(_ id: SubscriptionID) { all?.remove(id) }

    private mutating func everything() throws -> All {
        if let all { return all }
        var read = All()
        for subscription in try transaction.subscriptions(of: owner) { read.keep(subscription) }
        all = read
        return read
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
