import CloudModel

/// What a read sees: one moment of the store.
///
/// Used on the thread that opened it, until its closure returns. Visiting closures get bodies that are
/// valid only while they run.
package protocol StoreSnapshot: CurrentRecordReading, ShareReading, AssetReading,
    ClientTokenReading, SubscriptionReading, ChangeReading
{
    /// The owner of that user record name, if he has ever had a zone.
    func owner(named name: UserRecordName) throws -> StoredOwner?

    /// The zone of that number, alive or deleted.
    func zone(_ number: ZoneNumber) throws -> StoredZone?

    /// The living zone of that name.
    func zone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone?

    /// The living zone of that name, of an owner by his own.
    func zone(named name: ZoneName, ofOwnerNamed owner: UserRecordName) throws -> StoredZone?

    /// How many zones an owner has, default zones and deleted ones that are still kept included; counted up
    /// to a limit.
    func zoneCount(of owner: OwnerNumber, limit: Int) throws -> Int

    /// The owner's living zones, default zones included, by name.
    func zones(of owner: OwnerNumber) throws -> [StoredZone]

    /// The database feed: zones alive and deleted, by the position of their last change.
    func zones(of owner: OwnerNumber, changedAfter: Position, limit: Int) throws -> [StoredZone]

    /// The position of the last change in any of the owner's zones; 0 for none.
    func lastChange(of owner: OwnerNumber) throws -> Position

    /// Where that name stands, deleted or not; nil if it has never been or is collected.
    func head(of name: RecordName, in zone: ZoneNumber) throws -> StoredHead?

    /// Reads the version at a position that a head names.
    func version<Value>(
        at position: Position, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value?

    /// The zone feed: versions and tombstones after one position and up to another, until the closure
    /// answers false.
    ///
    /// - Parameter readingNumbers: whether `record` and `type` are read; without, they are 0, and a row
    ///   of a page costs a tenth less.
    func versions(
        in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
        readingNumbers: Bool, _ visit: (StoredVersion) throws -> Bool) throws

    /// The numbers of all record types by their names.
    func recordTypes() throws -> [String: Int64]

    /// The records that refer to a name by links, at most `limit` of them.
    ///
    /// - Parameter kinds: what the references do.
    func sources(
        of target: RecordName, in zone: ZoneNumber, kinds: ClosedRange<LinkKind>, limit: Int
    ) throws
        -> [LinkSource]

    /// Lets a loop over what was read end when it is told to.
    ///
    /// - Throws: `WorkStopped`; never within a transaction.
    func checkStop() throws

    /// The records that refer to a name by links of one kind, by their numbers, at most `limit` of them.
    func sources(
        of target: RecordName, in zone: ZoneNumber, kind: LinkKind, after: RecordNumber, limit: Int
    ) throws -> [LinkSource]

    /// The indexes that queries use.
    var indexReader: any IndexReader { get }

    /// Versions of all zones, tombstones and deleted zones included, in the order of their keys,
    /// until the closure answers false or `limit` rows have been visited.
    ///
    /// A record that is saved while a survey goes on comes again, later.
    ///
    /// - Parameter key: of the row to begin after; 0 at first.
    /// - Returns: the key to go on after; nil when there is nothing more.
    func versions(
        afterKey key: Int64, limit: Int, _ visit: (ZoneNumber, StoredVersion) throws -> Bool
    ) throws -> Int64?

    /// What has been changed in the schema, the latest first.
    func schemaHistory(limit: Int) throws -> [StoredSchemaChange]

    /// The numbers of the container's own roles that a user has been given; of most, none.
    ///
    /// A role that the schema no longer has may still be among them.
    func assignedRoles(of user: UserRecordName) throws -> Set<Int64>
}

/// What a write may do besides reading what it has itself written.
package protocol StoreTransaction: StoreSnapshot, ShareWriting, AssetWriting, ClientTokenWriting,
    SubscriptionWriting, WorkQueue, ChangeFollowing
{
    /// The moment of the transaction: every change in it carries the same.
    var now: Milliseconds { get }

    /// The schema, with what earlier transactions of the group added.
    var schema: Schema { get }

    /// The next position; changes must be written in the order in which they took theirs.
    func takePosition() throws -> Position

    /// Makes an owner, who must not exist.
    func makeOwner(_ name: UserRecordName, account: AccountID?) throws -> StoredOwner

    /// Makes a zone, whose name must be free. A deleted zone of that name leaves the database feed.
    func makeZone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone

    /// Hides a zone and its records at once; the rows go later, by `purge`.
    func deleteZone(_ zone: StoredZone) throws

    /// Writes new versions in place of the records' former ones, in the order of their positions.
    ///
    /// - Parameter versions: each of another record.
    /// - Returns: the records' numbers, new where a name had none.
    func save(_ versions: [NewVersion]) throws -> [RecordNumber]

    /// Replaces the links of one record.
    func replaceLinks(of source: RecordNumber, with links: [Link]) throws

    /// Puts another schema in place of the stored one, and a line into its history; later requests
    /// have it after the commit.
    ///
    /// Types and fields that go must have no records; indexes that go are dropped.
    ///
    /// - Parameters:
    ///   - who: makes the change: a user record name, a key, or a command.
    ///   - difference: what changes, a line each.
    func replaceSchema(by schema: Schema, who: String, difference: [String]) throws

    /// Has every save refused, after the commit, that brings one of these types or fields: it is
    /// being found out whether they can go. Lasts until the next call, a replacement of the schema
    /// that says otherwise, or the end of the process.
    func hold(_ parts: Schema.Parts) throws

    /// Gives a user these roles, by their numbers in the schema, and no others.
    func assign(_ roles: Set<Int64>, to user: UserRecordName) throws

    /// Bytes that the owner's records take, with this transaction's changes.
    func usedBytes(of owner: OwnerNumber) throws -> Int64

    /// Makes the indexes of a record type that are not there yet; they are filled by queued work.
    func makeIndexes(_ needs: [IndexNeed], ofType type: Int64) throws

    /// Gives up indexes of a record type: no query uses them from now on, and they are emptied by queued
    /// work.
    ///
    /// - Parameter fields: whose indexes; nil for all of the type's.
    func dropIndexes(ofType type: Int64, fields: Set<String>?) throws

    /// Fills indexes that are not whole, and empties those that leave, by looking at so many records.
    ///
    /// - Returns: whether there is more to do.
    func workOnIndexes(recordsMax: Int) throws -> Bool

    /// Removes tombstones and deleted zones older than a moment, at most `rowsMax` rows.
    ///
    /// - Returns: whether there is more to remove.
    func collect(olderThan moment: Milliseconds, rowsMax: Int) throws -> Bool
}

/// A version to be written.
package struct NewVersion {
    package var zone: StoredZone
    package var name: RecordName
    package var position: Position
    /// What stood under the name before, tombstones included.
    package var former: StoredHead?
    /// The former version's body size; 0 for none and for a tombstone.
    package var formerBytes: Int
    package var formerIsAlive: Bool
    package var type: Int64
    package var flags: VersionFlags
    package var body: [UInt8]

    package init(
        zone: StoredZone, name: RecordName, position: Position, former: StoredHead?,
        formerBytes: Int, formerIsAlive: Bool, type: Int64, flags: VersionFlags, body: [UInt8]
    ) {
        self.zone = zone
        self.name = name
        self.position = position
        self.former = former
        self.formerBytes = formerBytes
        self.formerIsAlive = formerIsAlive
        self.type = type
        self.flags = flags
        self.body = body
    }
}

extension StoreTransaction {
    /// Writes one record's new version; as above.
    package func save(_ version: NewVersion) throws -> RecordNumber {
        guard let record = try save([version]).first else { throw StorageFailure.indeterminate }
        return record
    }

    /// What is being written is never left halfway.
    package func checkStop() {}
}
