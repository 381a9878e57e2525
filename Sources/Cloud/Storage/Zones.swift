import CloudModel

/// What a read sees of owners and their zones.
package protocol ZoneReading: AnyObject {
    /// The owner of that user record name, if they have ever had a zone.
    func owner(named name: UserRecordName) throws -> StoredOwner?

    /// The record name of an owner.
    func ownerName(_ owner: OwnerNumber) throws -> UserRecordName?

    /// The zone of that number, alive or deleted; nil once a deleted one is collected.
    func zone(_ number: ZoneNumber) throws -> StoredZone?

    /// The living zone of that name.
    func zone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone?

    /// The living zone of that name, of an owner by their own.
    func zone(named name: ZoneName, ofOwnerNamed owner: UserRecordName) throws -> StoredZone?

    /// How many records an owner has in living zones.
    func recordCount(of owner: OwnerNumber) throws -> Int

    /// How many zones an owner has, default zones and deleted ones that are still kept included; counted up
    /// to a limit.
    func zoneCount(of owner: OwnerNumber, limit: Int) throws -> Int

    /// The owner's living zones, default zones included, by name: in the order of code points.
    func zones(of owner: OwnerNumber) throws -> [StoredZone]

    /// The database feed: zones alive and deleted, by the position of their last change. Default zones are not
    /// in it.
    func zones(of owner: OwnerNumber, changedAfter: Position, limit: Int) throws -> [StoredZone]

    /// The position of the last change in any of the owner's zones but the default ones; 0 for none.
    func lastChange(of owner: OwnerNumber) throws -> Position
}

/// What a write does with owners and zones.
package protocol ZoneWriting: ZoneReading {
    /// Makes an owner, who must not exist.
    func makeOwner(_ name: UserRecordName, account: AccountID?) throws -> StoredOwner

    /// Makes a zone, whose name must be free. Takes the next position.
    ///
    /// A deleted zone of that name leaves the database feed: who follows it is told of the new one. Its number is
    /// never used again, so that no token of one is a token of the other.
    func makeZone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone

    /// Hides a zone and its records at once, at the next position, and ends what was shared of it; the rows go later,
    /// by `collect`.
    func deleteZone(_ zone: StoredZone) throws

    /// Bytes that the owner's records take, with this transaction's changes.
    func usedBytes(of owner: OwnerNumber) throws -> Int64
}
