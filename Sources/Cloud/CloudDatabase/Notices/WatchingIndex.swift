import CloudModel
import Storage

/// A subscription as the matching keeps it, together with what was read from it.
final class Watched {
    let owner: SubscriptionOwner
    let subscription: Subscription
    let since: Position
    let info: NotificationInfo
    /// The subscription's query, as the page's schema allows it; nil for a query that finds nothing yet.
    let query: RecordQuery?
    /// The tests for one zone and one snapshot.
    private var tests: (page: UInt64, zone: ZoneNumber, tests: [FilterTest])?

    init(_ watching: WatchingSubscription, query: RecordQuery?) throws {
        owner = watching.owner
        subscription = watching.subscription
        since = watching.since
        info = try NotificationInfo(watching.subscription.notificationInfo)
        self.query = query
    }

    var key: SubscriptionKey { SubscriptionKey(owner: owner, id: subscription.id) }

    /// Whether the query finds a record as it was before or after the change.
    func finds(
        _ record: ChangedRecord, page: UInt64, _ words: SearchWords, _ snapshot: any StoreSnapshot
    ) throws -> Bool {
        guard let query else { return false }
        if query.filters.isEmpty { return true }
        let made: [FilterTest]
        if let tests, tests.page == page, tests.zone == record.zone.number {
            made = tests.tests
        } else {
            made = try query.filters.map {
                FilterTest($0, in: record.zone.name, words: try words.words(of: $0))
            }
            tests = (page, record.zone.number, made)
        }
        return try record.states().contains { state in
            made.allSatisfy { $0.holds(for: state) }
        }
    }
}

/// Finds the subscriptions that may fire for a change.
///
/// It keeps what it found until somebody changes a subscription, a destination or the schema. In the public
/// database it looks subscriptions up by the record's type, and by the values of those fields about which
/// subscriptions ask. So other subscriptions cost nothing.
final class WatchingIndex {
    /// Reads a stored subscription's query; nil when it cannot be read.
    typealias Decode = @Sendable (Subscription, SubscriptionOwner) -> RecordQuery?
    /// Checks a query against the schema; nil when the schema does not allow it.
    typealias Admit = (RecordQuery, SubscriptionOwner) -> RecordQuery?

    private struct PublicKey: Hashable {
        let type: RecordTypeName
        let match: SubscriptionMatch?
    }

    /// How many entries are kept; beyond that, all are read again.
    private static let entriesMax = 50_000

    private let decode: Decode
    private var state: (revision: Int64, schema: Int) = (-1, -1)
    private var open: [PublicKey: [Watched]] = [:]
    private var required: [RecordTypeName: [String]] = [:]
    private var owned: [SubscriptionOwner: [Watched]] = [:]
    private var destinations: [UserRecordName: [StoredDestination]] = [:]
    private var entryCount = 0

    init(decode: @escaping Decode) { self.decode = decode }

    var revision: Int64 { state.revision }

    /// Forgets what has changed since.
    func renew(_ snapshot: any StoreSnapshot) throws {
        let now = (try snapshot.subscriptionRevision(), try snapshot.schema.version)
        guard now != state || entryCount > Self.entriesMax else { return }
        state = now
        (open, required, owned, destinations) = ([:], [:], [:], [:])
        entryCount = 0
    }

    /// Subscriptions of the public database that may fire for a record.
    func publicOnes(
        for record: ChangedRecord, _ snapshot: any StoreSnapshot, _ admit: Admit
    ) throws -> [Watched] {
        var found = try publicOnes(PublicKey(type: record.type, match: nil), snapshot, admit)
        let fields = try required[record.type] ?? snapshot.fieldsRequired(of: record.type)
        required[record.type] = fields
        for field in fields {
            let matches = Set(
                try record.states().compactMap { SubscriptionMatch(field, of: $0) })
            for match in matches {
                found += try publicOnes(PublicKey(type: record.type, match: match), snapshot, admit)
            }
        }
        return found
    }

    private func publicOnes(
        _ key: PublicKey, _ snapshot: any StoreSnapshot, _ admit: Admit
    ) throws -> [Watched] {
        if let known = open[key] { return known }
        let read = try snapshot.subscriptions(.publicOnes(key.type, requiring: key.match))
            .map { try watched($0, admit) }
        open[key] = read
        entryCount += read.count + 1
        return read
    }

    /// All subscriptions of a user in one of their databases.
    func all(
        of owner: SubscriptionOwner, _ snapshot: any StoreSnapshot, _ admit: Admit
    ) throws -> [Watched] {
        if let known = owned[owner] { return known }
        let read = try snapshot.subscriptions(.owner(owner)).map { try watched($0, admit) }
        owned[owner] = read
        entryCount += read.count + 1
        return read
    }

    func destinations(
        of user: UserRecordName, _ snapshot: any StoreSnapshot
    ) throws -> [StoredDestination] {
        if let known = destinations[user] { return known }
        let read = try snapshot.destinations(of: user)
        destinations[user] = read
        entryCount += read.count + 1
        return read
    }

    private func watched(_ watching: WatchingSubscription, _ admit: Admit) throws -> Watched {
        let query = decode(watching.subscription, watching.owner)
        return try Watched(watching, query: query.flatMap { admit($0, watching.owner) })
    }
}
