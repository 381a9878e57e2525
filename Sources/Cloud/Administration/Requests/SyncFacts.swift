import CloudModel

/// What a store and the catalog know of a user that lines of requests do not tell.
struct SyncFacts {
    /// A zone, and what lies behind the position of a device.
    struct Gap {
        /// Records that changed after it, counted up to `countMax`.
        var count: Int
        /// When the first of them was saved; nil where that is not known.
        var since: Milliseconds?
        /// The zone's own position.
        var end: Int64
        /// Whether tokens of that position have expired.
        var isExpired: Bool

        static let countMax = 1_000
    }

    /// A way by which notices reach a device.
    struct Destination {
        var kind: String
        var device: String?
        var failures: Int
        var waiting: Int
        /// When the oldest notice was made that waits.
        var oldest: Milliseconds?
        var usedAt: Milliseconds
    }

    struct Subscription {
        var id: String
        var database: DatabaseScope
        var kind: String
        var zone: String?
    }

    struct Share {
        var owner: String
        var zone: String
        /// Whether they have lost all of the zone.
        var isLost: Bool
        var permission: String
        var status: String
    }

    var now: Milliseconds
    var usedBytes: Int64 = 0
    /// 0 for none.
    var quotaBytes: Int64 = 0
    /// When the schema changed last.
    var schemaChangedAt: Milliseconds?
    /// Of each device, by its place in the story's list.
    var gaps: [Int: [SyncStory.ZoneReference: Gap]] = [:]
    var destinations: [Destination] = []
    var subscriptions: [Subscription] = []
    var shares: [Share] = []
    /// The IDs of the sessions that may still be used.
    var sessions: Set<String> = []

    init(now: Milliseconds) { self.now = now }
}
