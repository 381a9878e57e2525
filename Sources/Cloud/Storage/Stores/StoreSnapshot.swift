import CloudModel

/// What a read sees: one moment of the store.
///
/// Used on the thread that opened it, until its closure returns.
package protocol StoreSnapshot: ZoneReading, RecordReading, CurrentRecordReading, SchemaReading,
    ShareReading, QueryReading, AssetReading, ClientTokenReading, SubscriptionReading,
    ChangeReading, DestinationReading, OutboxReading
{
    /// When the next work of some kinds will be due, and free where another holds it; nil for none.
    ///
    /// - Parameter kinds: nil for all kinds.
    func nextWorkMoment(_ kinds: [WorkKind]?, for holder: WorkHolder) throws -> Milliseconds?
}

/// What a write may do, besides reading what it has written itself.
package protocol StoreTransaction: StoreSnapshot, ZoneWriting, RecordWriting, SchemaWriting,
    ShareWriting, AssetWriting, ClientTokenWriting,
    SubscriptionWriting, WorkQueue, ChangeFollowing, DestinationWriting, OutboxWriting
{
    /// The moment of the transaction; all of its changes carry it.
    var now: Milliseconds { get }

    /// Removes what nobody can ask for any more, at most `limit` things.
    ///
    /// - Returns: whether there is more to remove.
    func collect(_ garbage: Garbage, limit: Int) throws -> Bool
}

/// What a store need not keep.
package enum Garbage: Sendable {
    /// Tombstones and deleted zones older than a moment.
    case old(Milliseconds)
    /// What is left of an owner's deleted zones whose records are gone, sooner than it would go of itself.
    ///
    /// Those who saw something of them find the tokens of their shared databases expired.
    case zones(of: UserRecordName)
    /// What is kept for followers of versions before changes up to a position.
    ///
    /// Who follows and has not come so far hears of these changes as of records that nobody knows any more.
    case previousVersions(through: Position)
    /// What a person who is erased, and their devices, have left to be told of and to take part: subscriptions,
    /// destinations with their notices, requests for access and blocks against them, what devices left with zones.
    case leftBehind(by: UserRecordName)
}

extension StoreSnapshot {
    /// The store's last position.
    package func lastPosition() throws -> Position { try identity.last }
}

extension StoreTransaction {
    /// Removes tombstones and deleted zones older than a moment.
    package func collect(olderThan moment: Milliseconds, limit: Int) throws -> Bool {
        try collect(.old(moment), limit: limit)
    }

    /// Forgets what a person and their devices have left to be told of and to take part.
    package func forget(_ person: UserRecordName) throws {
        _ = try collect(.leftBehind(by: person), limit: .max)
    }
}
