import CloudModel

/// What a read sees of owners and their zones.
package protocol ZoneReading: AnyObject {
    /// The owner with that user record name, if they have ever had a zone.
    func owner(named name: UserRecordName) throws -> StoredOwner?

    /// The record name of an owner.
    func ownerName(_ owner: OwnerNumber) throws -> UserRecordName?

    /// The zone with that number, alive or deleted; nil once a deleted zone is collected.
    func zone(_ number: ZoneNumber) throws -> StoredZone?

    /// The living zone with that name.
    func zone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone?

    /// The living zone with that name, of the owner with that user record name.
    func zone(named name: ZoneName, ofOwnerNamed owner: UserRecordName) throws -> StoredZone?

    /// How many records an owner has in living zones.
    func recordCount(of owner: OwnerNumber) throws -> Int

    /// How many zones an owner has, counted up to a limit.
    ///
    /// Default zones count, and so do deleted zones that are not collected yet.
    func zoneCount(of owner: OwnerNumber, limit: Int) throws -> Int

    /// The owner's living zones, default zones included, by name in the order of code points.
    func zones(of owner: OwnerNumber) throws -> [StoredZone]

    /// The database feed: zones alive and deleted, by the position of their last change.
    ///
    /// Default zones are not in it.
    func zones(of owner: OwnerNumber, changedAfter: Position, limit: Int) throws -> [StoredZone]

    /// The position of the last change in any of the owner's zones except default zones; 0 for none.
    func lastChange(of owner: OwnerNumber) throws -> Position

    /// How many bytes all owners' records take, by a look at each owner, and how many owners there are.
    func storedBytes() throws -> (bytes: Int64, owners: Int)
}

/// What a write does with owners and zones.
package protocol ZoneWriting: ZoneReading {
    /// Makes an owner, who must not exist yet.
    func makeOwner(_ name: UserRecordName) throws -> StoredOwner

    /// Makes a zone and takes the next position; no living zone may have the name.
    ///
    /// A deleted zone with that name leaves the database feed: the feed shows the new zone instead. The
    /// number of the deleted zone is never used again. So a token of the one is never a token of the other.
    func makeZone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone

    /// Hides a zone and its records at once, at the next position, and ends all sharing of it.
    ///
    /// `collect` removes the rows later.
    func deleteZone(_ zone: StoredZone) throws

    /// How many bytes the owner's records take, including this transaction's changes.
    func usedBytes(of owner: OwnerNumber) throws -> Int64
}
