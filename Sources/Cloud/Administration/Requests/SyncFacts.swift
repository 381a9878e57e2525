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

    var now: Milliseconds
    var usedBytes: Int64 = 0
    /// 0 for none.
    var quotaBytes: Int64 = 0
    /// When the schema changed last.
    var schemaChangedAt: Milliseconds?
    /// Of each device, by its place in the story's list.
    var gaps: [Int: [SyncStory.ZoneReference: Gap]] = [:]
    var destinations: [SyncDestination] = []
    var subscriptions: [SyncSubscription] = []
    var shares: [SyncShare] = []
    /// The IDs of the sessions that may still be used.
    var sessions: Set<String> = []

    init(now: Milliseconds) { self.now = now }
}
