import CloudModel

/// What a read sees of records: their names, versions and links.
///
/// A name leads by its *head* to the one version that there is of the record, which may be a tombstone. So
/// the versions of a zone after a position are the records that changed after it, each once.
///
/// # Visiting
///
/// Members with a `visit` closure hand out bodies where the engine has them, valid only until the closure returns.
/// Within it anything may be read but further versions: an engine hands out what it has already read, and must not
/// need its way to the data while somebody looks. What is to be read of other versions is read afterwards.
///
/// ```swift
/// var last: Position = 0
/// try snapshot.versions(
///     in: zone, after: token, through: .max, newestFirst: false, readingNumbers: false
/// ) { version in
///     guard page.hasRoom(for: version) else { return false }
///     page.append(version.body)
///     last = version.position
///     return true
/// }
/// ```
package protocol RecordReading: AnyObject {
    /// Where that name stands, deleted or not; nil if it has never been or is collected.
    func head(of name: RecordName, in zone: ZoneNumber) throws -> StoredHead?

    /// Where a record lies; nil once it is collected.
    func place(of record: RecordNumber) throws -> RecordPlace?

    /// Reads the version at a position that a head names.
    func version<Value>(
        at position: Position, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value?

    /// The zone feed: versions and tombstones after one position and up to another, until the closure
    /// answers false.
    ///
    /// - Parameters:
    ///   - through: the last position; `.max` for all.
    ///   - readingNumbers: whether `record` and `type` are wanted. Without, they may be 0 (a row of a page then
    ///     costs a tenth less), but for records that are shares, which have their number in any case.
    func versions(
        in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
        readingNumbers: Bool, _ visit: (StoredVersion) throws -> Bool) throws

    /// Versions of all zones, tombstones and deleted zones included, in an order that stays, until the closure
    /// answers false or `limit` rows have been visited.
    ///
    /// A record that is saved while a survey goes on may come again, later; one that is there throughout comes
    /// at least once.
    ///
    /// - Parameter place: after which to go on; `start` at first.
    /// - Returns: the place to go on after; nil when there is nothing more.
    func versions(
        after place: SurveyPlace, limit: Int, _ visit: (ZoneNumber, StoredVersion) throws -> Bool
    ) throws -> SurveyPlace?

    /// The records that refer to a name by links, at most `limit` of them.
    ///
    /// - Parameter kinds: what the references do.
    func sources(
        of target: RecordName, in zone: ZoneNumber, kinds: ClosedRange<LinkKind>, limit: Int
    ) throws -> [LinkSource]

    /// The records that refer to a name by links of one kind, by their numbers, at most `limit` of them.
    func sources(
        of target: RecordName, in zone: ZoneNumber, kind: LinkKind, after: RecordNumber, limit: Int
    ) throws -> [LinkSource]

    /// The parent that a record names; nil for none.
    func parent(of record: RecordNumber) throws -> RecordName?

    /// Whether a record's links have one.
    func hasLink(_ link: Link, from source: RecordNumber) throws -> Bool

    /// The records that name a record as their parent, by their numbers.
    func children(
        of parent: RecordName, in zone: ZoneNumber, after: RecordNumber, limit: Int
    ) throws -> [RecordNumber]
}

/// How far a survey of all versions of a store has come.
package struct SurveyPlace: Sendable, Hashable {
    /// Of the version after which it goes on.
    package let zone: ZoneNumber
    package let position: Position

    package init(zone: ZoneNumber, position: Position) {
        self.zone = zone
        self.position = position
    }

    package static let start = SurveyPlace(zone: ZoneNumber(0), position: 0)
}

/// What a write does with records.
package protocol RecordWriting: RecordReading {
    /// Takes positions that follow each other, the next of the store.
    ///
    /// Whoever takes the first of a transaction holds the store's counter until that ends, committed or not: no
    /// other writer gets a position before it knows what became of these. So the order of positions is the
    /// order of commits, with any number of writers in any number of processes. What is taken and not used is
    /// left out; no position is given out twice, whatever fails.
    ///
    /// - Returns: the first of them.
    /// - Throws: `StorageFailure.full` when all positions are used up.
    func takePositions(_ count: Int) throws -> Position

    /// Writes new versions in place of the records' former ones, in the order of their positions.
    ///
    /// Changes are written in the order in which they took their positions. One that is written at a position that this
    /// transaction has not taken, or over a head that leads to no version of its record, is refused as a
    /// `BrokenInvariant`, which undoes the transaction.
    ///
    /// - Parameter versions: each of another record.
    /// - Returns: the records' numbers, new where a name had none.
    func save(_ versions: [NewVersion]) throws -> [RecordNumber]

    /// Replaces the links of one record.
    func replaceLinks(of source: RecordNumber, with links: [Link]) throws
}

extension RecordWriting {
    /// The next position.
    ///
    /// - Throws: as `takePositions`.
    package func takePosition() throws -> Position { try takePositions(1) }

    /// Writes one record's new version; as above.
    package func save(_ version: NewVersion) throws -> RecordNumber {
        guard let record = try save([version]).first else { throw StorageFailure.indeterminate }
        return record
    }
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
