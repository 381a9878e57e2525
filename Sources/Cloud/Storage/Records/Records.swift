import CloudModel

/// What a read sees of records: their names, versions and links.
///
/// A name leads by its *head* to the only version that the store keeps of the record; it may be a tombstone.
/// So the versions of a zone after a position are the records that changed after it, each once.
///
/// # Visiting
///
/// Members with a `visit` closure hand out bodies where the engine has them. A body is valid only until the
/// closure returns. Within the closure you may read anything except further versions: read those afterwards.
/// The reason: an engine hands out what it has already read, and must not need its way to the data while
/// somebody looks.
///
/// # Damage
///
/// A version that is not what was written is never handed out. In its place, members that read versions throw
/// `DamagedVersion`; those that visit many have visited all before it.
///
/// ```swift
/// var last: Position = 0
/// try snapshot.versions(
///     in: zone, after: token, through: .max, newestFirst: false
/// ) { version in
///     guard page.hasRoom(for: version) else { return false }
///     page.append(version.body)
///     last = version.position
///     return true
/// }
/// ```
package protocol RecordReading: AnyObject {
    /// The heads of names, in their order, whether the records are deleted or not; nil for a name that never had one,
    /// and once it is collected.
    func heads(of names: [RecordName], in zone: ZoneNumber) throws -> [StoredHead?]

    /// Where records lie, in the keys' order; nil for one that is collected.
    func locations(_ keys: LocationKeys) throws -> [RecordLocation?]

    /// The zone feed: visits versions and tombstones after one position and up to another.
    ///
    /// The visit ends when the closure returns false.
    ///
    /// - Parameters:
    ///   - through: the last position; `.max` for all.
    ///   - expected: about how many are visited; nil where the caller cannot tell. It changes nothing but how much an
    ///     engine behind a network fetches at once.
    func versions(
        in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool, expected: Int?,
        _ visit: (StoredVersion) throws -> Bool) throws

    /// Visits versions of all zones in an order that stays the same; tombstones and deleted zones are
    /// included.
    ///
    /// The visit ends when the closure returns false, or after `limit` versions. A record that is saved while a
    /// survey goes on may come again later. A record that exists throughout comes at least once.
    ///
    /// - Parameter location: where to go on; `start` at first.
    /// - Returns: where to go on next time; nil when there is nothing more.
    func versions(
        after cursor: SurveyCursor, limit: Int, _ visit: (ZoneNumber, StoredVersion) throws -> Bool
    ) throws -> SurveyCursor?

    /// The records that refer to names by links, in the names' order; at most `limit` for each name, those of one kind
    /// in the order of their numbers.
    ///
    /// - Parameters:
    ///   - kinds: only links of these kinds count.
    ///   - after: only records with greater numbers count.
    func sources(
        of targets: [RecordName], in zone: ZoneNumber, kinds: ClosedRange<LinkKind>,
        after: RecordNumber, limit: Int
    ) throws -> [[LinkSource]]

    /// The links of some kinds that records have, in the records' order, those of each in no particular order.
    func links(of records: [RecordNumber], kinds: ClosedRange<LinkKind>) throws -> [[Link]]
}

/// What records' locations are looked for by.
package enum LocationKeys: Sendable {
    case records([RecordNumber])
    /// The head that gives a position; looks through all names of the zone.
    ///
    /// For a version that is not what was written: others say it themselves.
    case position(Position, in: ZoneNumber)
}

extension RecordReading {
    /// Where records lie, in their order; nil for one that is collected.
    package func locations(of records: [RecordNumber]) throws -> [RecordLocation?] {
        try locations(.records(records))
    }

    /// Where records lie, by their numbers; without those that are collected.
    package func recordLocations(
        _ records: some Sequence<RecordNumber>
    ) throws -> [RecordNumber: RecordLocation] {
        let records = Array(Set(records))
        var found: [RecordNumber: RecordLocation] = [:]
        for (record, location) in zip(records, try locations(of: records)) {
            found[record] = location
        }
        return found
    }

    /// As above, for a caller who cannot tell how many they visit.
    package func versions(
        in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
        _ visit: (StoredVersion) throws -> Bool
    ) throws {
        try versions(
            in: zone, after: after, through: through, newestFirst: newestFirst, expected: nil, visit
        )
    }

    /// As `heads`, for one name.
    package func head(of name: RecordName, in zone: ZoneNumber) throws -> StoredHead? {
        try heads(of: [name], in: zone).first ?? nil
    }

    /// Reads the version at the position that a head gives.
    package func version<Value>(
        at position: Position, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        var found: Value?
        try versions(
            in: zone, after: position - 1, through: position, newestFirst: false, expected: 1
        ) {
            found = try visit($0)
            return false
        }
        return found
    }

    /// The records that name a record as their parent, in the order of their numbers.
    package func children(
        of parent: RecordName, in zone: ZoneNumber, after: RecordNumber, limit: Int
    ) throws -> [RecordNumber] {
        try sources(of: parent, in: zone, kind: .parent, after: after, limit: limit).map(\.record)
    }

    /// The records that refer to a name by links of some kinds, from the first on.
    package func sources(
        of target: RecordName, in zone: ZoneNumber, kinds: ClosedRange<LinkKind>, limit: Int
    ) throws -> [LinkSource] {
        try sources(of: [target], in: zone, kinds: kinds, after: RecordNumber(.min), limit: limit)
            .first ?? []
    }

    /// The records that refer to a name by links of one kind.
    package func sources(
        of target: RecordName, in zone: ZoneNumber, kind: LinkKind, after: RecordNumber, limit: Int
    ) throws -> [LinkSource] {
        try sources(of: [target], in: zone, kinds: kind...kind, after: after, limit: limit)
            .first ?? []
    }

    /// As `locations`, for one record.
    package func location(of record: RecordNumber) throws -> RecordLocation? {
        try locations(of: [record]).first ?? nil
    }

    /// The links of a record.
    package func links(of record: RecordNumber) throws -> [Link] {
        try links(of: [record], kinds: LinkKind.all).first ?? []
    }

    /// The names that records give as their parents, in their order; nil for one that gives none.
    package func parents(of records: [RecordNumber]) throws -> [RecordName?] {
        try links(of: records, kinds: .parent ... .parent).map { $0.first?.target }
    }

    /// As `parents`, for one record.
    package func parent(of record: RecordNumber) throws -> RecordName? {
        try parents(of: [record]).first ?? nil
    }
}

/// How far a survey of all versions of a store has come.
package struct SurveyCursor: Sendable, Hashable {
    /// The zone of the last version that was visited.
    package let zone: ZoneNumber
    package let position: Position

    package init(zone: ZoneNumber, position: Position) {
        self.zone = zone
        self.position = position
    }

    package static let start = SurveyCursor(zone: ZoneNumber(0), position: 0)
}

/// What a write does with records.
package protocol RecordWriting: RecordReading {
    /// Takes the next positions of the store, one after the other.
    ///
    /// The first call in a transaction takes hold of the store's counter, until the transaction ends,
    /// committed or not. No other writer gets a position before it knows what became of these. So positions
    /// are in the order of commits, with any number of writers in any number of processes. Positions that are
    /// taken but not used stay unused. No position is ever given out twice, whatever fails.
    ///
    /// - Returns: the first of them.
    /// - Throws: `StorageFailure.full` when all positions are used up.
    func takePositions(_ count: Int) throws -> Position

    /// Writes new versions in place of the records' former ones, in the order of their positions, and what the records
    /// link to and which files they hold.
    ///
    /// Write changes in the order in which they took their positions. Two mistakes are a `BrokenInvariant`,
    /// which undoes the transaction: a position that this transaction has not taken, and a `previous` head that
    /// leads to no version of the record.
    ///
    /// - Parameter versions: each of another record.
    /// A name that has a head already and comes without it is a `BrokenInvariant`, too.
    ///
    /// - Returns: the records' numbers; a name that had none gets a new one.
    func save(_ versions: [NewVersion]) throws -> [RecordNumber]
}

extension RecordWriting {
    /// Takes the next position.
    ///
    /// - Throws: as `takePositions`.
    package func takePosition() throws -> Position { try takePositions(1) }

    /// Writes the new version of one record, as `save` does for several.
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
    /// The head of the name before, a tombstone's included; nil for none.
    package var previous: StoredHead?
    /// How many bytes the previous version counts towards its owner's: those of its body, none of a tombstone's.
    package var previousBytes: Int
    package var previousIsAlive: Bool
    /// Whether the previous version is not what was written: it goes, whatever it says.
    package var previousIsDamaged: Bool
    package var type: Int64
    package var flags: VersionFlags
    package var body: [UInt8]
    /// Where the members of `fields` end in the body; nil where the maker of the body does not know.
    ///
    /// An engine that takes bodies apart need not look for it. It does not rely on it either.
    package var fieldsEnd: Int?
    /// What the record links to from now on; nil leaves its links as they are.
    package var links: [Link]?
    /// The files that the record holds from now on, which count for the owner of its zone; nil leaves them as they are.
    ///
    /// A file that the store does not have is a `BrokenInvariant`. That cannot happen to a sound store: a receipt, or
    /// the record itself, must have kept the file.
    package var files: Set<AssetDigest>?
    /// A short identifier that no other record may have; it stays with the record, which keeps one that it has.
    package var shortGUID: String?
    /// Whether queries find the record as soon as it is saved, so that nothing of it is left for later; the writer has
    /// seen to it that there is little in it to be found by.
    package var isFoundAtOnce = false

    package init(
        zone: StoredZone, name: RecordName, position: Position, previous: StoredHead?,
        previousBytes: Int, previousIsAlive: Bool, previousIsDamaged: Bool = false, type: Int64,
        flags: VersionFlags, body: [UInt8], fieldsEnd: Int? = nil
    ) {
        self.zone = zone
        self.name = name
        self.position = position
        self.previous = previous
        self.previousBytes = previousBytes
        self.previousIsAlive = previousIsAlive
        self.previousIsDamaged = previousIsDamaged
        self.type = type
        self.flags = flags
        self.body = body
        self.fieldsEnd = fieldsEnd
    }
}
