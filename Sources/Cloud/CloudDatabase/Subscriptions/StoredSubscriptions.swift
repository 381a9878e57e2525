import CloudModel
import Storage

/// A user's subscriptions in one database, as the operations so far have left them.
///
/// Those that operations name are read by their IDs. All are read only when something is asked about the others, for
/// they may be hundreds with long queries. What changes is written at the end.
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
    private var named: [SubscriptionID: Subscription] = [:]
    private var all: All?
    /// What is to be written; nil for what is to be deleted.
    private var changes: [SubscriptionID: NewSubscription?] = [:]

    /// - Parameter ids: those that `subscription` will be asked for.
    init(
        of owner: SubscriptionOwner, expecting ids: [SubscriptionID],
        in transaction: any StoreTransaction
    ) throws {
        (self.owner, self.transaction) = (owner, transaction)
        for stored in try transaction.subscriptions(.ids(ids, of: owner)) {
            named[stored.subscription.id] = stored.subscription
        }
    }

    func subscription(_ id: SubscriptionID) -> Subscription? { named[id] }

    mutating func count() throws -> Int { try everything().byID.count }

    /// Whether a subscription of another ID tells of the same changes.
    mutating func hasAnother(watchingTheSameAs subscription: Subscription) throws -> Bool {
        try everything().byWatched[Watched(subscription)].map { $0 != subscription.id } ?? false
    }

    /// Has one stored.
    mutating func keep(_ new: NewSubscription) {
        all?.keep(new.subscription)
        named[new.subscription.id] = new.subscription
        changes[new.subscription.id] = new
    }

    /// Has one deleted.
    mutating func remove(_ id: SubscriptionID) {
        all?.remove(id)
        named[id] = nil
        changes.updateValue(nil, forKey: id)
    }

    /// Writes what has changed, and has the store note changes for those who want to hear of them.
    func write() throws {
        guard !changes.isEmpty else { return }
        let made = changes.values.compactMap { $0 }
        let gone = changes.filter { $0.value == nil }.map(\.key)
        try transaction.save(made, removing: gone, of: owner)
        if !made.isEmpty {
            try ChangeWatch.begin(for: made.map(\.subscription), of: owner, in: transaction)
        }
        if !gone.isEmpty { try ChangeWatch.renew(in: transaction) }
    }

    private mutating func everything() throws -> All {
        if let all { return all }
        var read = All()
        for subscription in try transaction.subscriptions(of: owner) { read.keep(subscription) }
        for (id, change) in changes {
            if let change { read.keep(change.subscription) } else { read.remove(id) }
        }
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
