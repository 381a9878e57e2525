/// Why a fault came about, where its code and detail leave that open: for those who run the server.
///
/// It never goes on the wire, and it says nothing of a record.
package enum FaultCause: String, Sendable, CaseIterable {
    /// The schema of production lacks the record type or a field of it.
    case schemaLacksType
    case schemaLacksField
    /// A value is of another type than the schema says.
    case valueOfOtherType
    /// The sync token is too old, or the zone is not the one that it speaks of.
    case syncTokenExpired
    /// The sync token cannot be read, or is another user's or another zone's.
    case syncTokenUnknown
    /// A participant of a share may read but not do this.
    case participantMayNotWrite
    /// A user may not come in by this share any more.
    case participantRemoved
    /// The rate of the caller, of the container, or what may wait of the caller's work.
    case callerRate
    case containerRate
    case workWaiting
    /// The quota of the database or of the container.
    case quotaUsedUp
}
