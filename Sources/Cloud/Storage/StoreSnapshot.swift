import CloudModel

/// What a read sees: one moment of the store.
///
/// Used on the thread that opened it, until its closure returns.
package protocol StoreSnapshot: ZoneReading, RecordReading, CurrentRecordReading, SchemaReading,
    ShareReading, QueryReading, AssetReading, ClientTokenReading, SubscriptionReading,
    ChangeReading, DestinationReading, OutboxReading, ErasureReading
{
    /// Whether work of some kinds is queued, due or not.
    func isWorkQueued(ofAny kinds: [WorkKind]) throws -> Bool

    /// Call it in a loop over what was read, so that the loop ends when it is told to.
    ///
    /// - Throws: `WorkStopped`; never within a transaction.
    func checkStop() throws
}

/// What a write may do, besides reading what it has written itself.
package protocol StoreTransaction: StoreSnapshot, ZoneWriting, RecordWriting, SchemaWriting,
    ShareWriting, AssetWriting, ClientTokenWriting,
    SubscriptionWriting, WorkQueue, ChangeFollowing, DestinationWriting, OutboxWriting,
    ErasureWriting
{
    /// The moment of the transaction; all of its changes carry it.
    var now: Milliseconds { get }

    /// Removes tombstones and deleted zones older than a moment, at most `rowsMax` rows.
    ///
    /// - Returns: whether there is more to remove.
    func collect(olderThan moment: Milliseconds, rowsMax: Int) throws -> Bool
}

extension StoreTransaction {
    /// A write is never left halfway, so nothing stops it.
    package func checkStop() {}
}
