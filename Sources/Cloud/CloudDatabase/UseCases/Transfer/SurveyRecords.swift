import CloudModel
import JSON
import Storage

/// One living record that a survey finds, as its owner sees it.
package struct SurveyedRecord {
    /// Whose zone it is in; `publicOwner` for the public database.
    package let owner: UserRecordName
    package let zone: ZoneName
    /// As `records/lookup` answers it, without links to assets; valid only while the visiting closure runs.
    package let body: UnsafeRawBufferPointer
    /// The files of its assets.
    package let files: [AssetDigest]
    /// What a share is for; nil for a record that is none.
    package let share: SharedRoot?

    /// What a share is for.
    package enum SharedRoot: Sendable, Equatable {
        case record(RecordName)
        case zone
    }
}

/// Which records of a store a survey hands out.
package struct RecordSelection: Sendable {
    /// Whose zones; `publicOwner` for the public database, nil for everybody's.
    package var owner: UserRecordName?
    package var zone: ZoneName?
    package var type: RecordTypeName?
    /// All must hold; only with a type, as `QueryCheck` has admitted them without indexes.
    package var filters: [RecordQuery.Filter] = []

    package init() {}
}

/// Goes through the records of a store in an order that stays, step by step, without an index and for nobody in particular.
///
/// A record that is saved while a survey goes on may come again later, the newer version last. One that exists throughout
/// comes at least once.
package struct SurveyRecords {
    /// What one step has come to.
    package struct Step: Sendable {
        /// Where to go on; nil at the end.
        package let cursor: SurveyCursor?
        /// How many records are not what was written, and left out.
        package let damaged: Int
    }

    /// So that no reader holds up the log for long.
    private static let rowsMax = 2_000

    private let selection: RecordSelection
    private let storage: any Store
    private let limits: ServiceLimits
    private let viewed: (UserRecordName) -> Database

    /// - Parameter viewed: the private database of an owner, as they see it; asked for where there are shares.
    package init(
        _ selection: RecordSelection, of storage: any Store, limits: ServiceLimits,
        viewed: @escaping (UserRecordName) -> Database
    ) {
        self.selection = selection
        self.storage = storage
        self.limits = limits
        self.viewed = viewed
    }

    /// Visits the next records.
    ///
    /// Blocks: never on an event loop.
    ///
    /// - Throws: `Fault` for words that cannot be searched for; what `visit` and the storage report.
    package func step(
        after cursor: SurveyCursor, _ visit: (SurveyedRecord) throws -> Void
    ) throws -> Step {
        try storage.read { snapshot in
            let reader = try SurveyReader(selection, snapshot, limits, viewed)
            if selection.owner != nil {
                return try step(after: cursor, in: reader, snapshot, visit)
            }
            do {
                let next = try snapshot.versions(after: cursor, limit: Self.rowsMax) {
                    try reader.visit($1, in: $0, visit)
                    return true
                }
                return Step(cursor: next, damaged: 0)
            } catch let damaged as DamagedVersion {
                return Step(
                    cursor: SurveyCursor(zone: damaged.zone, position: damaged.position),
                    damaged: 1)
            }
        }
    }

    /// The next records of one owner's zones, in the order of the zones' numbers.
    private func step(
        after cursor: SurveyCursor, in reader: SurveyReader, _ snapshot: any StoreSnapshot,
        _ visit: (SurveyedRecord) throws -> Void
    ) throws -> Step {
        guard let name = selection.owner, let owner = try snapshot.owner(named: name) else {
            return Step(cursor: nil, damaged: 0)
        }
        let zones = try snapshot.zones(of: owner.number).sorted {
            $0.number.value < $1.number.value
        }
        var (seen, last) = (0, cursor)
        do {
            for zone in zones where zone.number.value >= cursor.zone.value {
                let after = zone.number == cursor.zone ? cursor.position : 0
                try snapshot.versions(
                    in: zone.number, after: after, through: .max, newestFirst: false
                ) { version in
                    guard seen < Self.rowsMax else { return false }
                    seen += 1
                    last = SurveyCursor(zone: zone.number, position: version.position)
                    try reader.visit(version, in: zone.number, visit)
                    return true
                }
                if seen >= Self.rowsMax { return Step(cursor: last, damaged: 0) }
            }
        } catch let damaged as DamagedVersion {
            return Step(
                cursor: SurveyCursor(zone: damaged.zone, position: damaged.position), damaged: 1)
        }
        return Step(cursor: nil, damaged: 0)
    }
}

/// Tells within one snapshot which versions are wanted, and shows them.
private final class SurveyReader {
    private struct Zone {
        let owner: UserRecordName
        let name: ZoneName
        let tests: [FilterTest]
    }

    private let selection: RecordSelection
    private let snapshot: any StoreSnapshot
    private let shares: ShownShares
    private let limits: ServiceLimits
    private let viewed: (UserRecordName) -> Database
    private let type: Int64?
    /// Nil for zones that are not wanted.
    private var zones: [ZoneNumber: Zone?] = [:]

    init(
        _ selection: RecordSelection, _ snapshot: any StoreSnapshot, _ limits: ServiceLimits,
        _ viewed: @escaping (UserRecordName) -> Database
    ) throws {
        self.selection = selection
        self.snapshot = snapshot
        shares = ShownShares(snapshot)
        self.limits = limits
        self.viewed = viewed
        // No record has the number 0: a type that does not exist has no records.
        type = try selection.type.map { try snapshot.schema.number(of: $0) ?? 0 }
    }

    func visit(
        _ version: StoredVersion, in number: ZoneNumber, _ visit: (SurveyedRecord) throws -> Void
    ) throws {
        let flags = version.flags
        guard !flags.contains(.tombstone), type.map({ $0 == version.type }) ?? true,
            let zone = try zone(number)
        else { return }
        if !zone.tests.isEmpty {
            let fields = try StoredFields(version.body, fields: version.ranges?.fields)
            for test in zone.tests where try !test.holds(for: fields) { return }
        }
        guard flags.contains(.share) || flags.contains(.hasAssets) else {
            return try visit(
                SurveyedRecord(
                    owner: zone.owner, zone: zone.name, body: version.body, files: [], share: nil))
        }
        var writer = JSONWriter(reserving: version.body.count)
        try viewed(zone.owner).append(version, as: .whole, with: shares, to: &writer)
        let (files, root) = (try ErasePerson.files(of: version), try root(version))
        try writer.bytes.withUnsafeBytes {
            try visit(
                SurveyedRecord(
                    owner: zone.owner, zone: zone.name, body: $0, files: files, share: root))
        }
    }

    private func root(_ version: StoredVersion) throws -> SurveyedRecord.SharedRoot? {
        guard version.flags.contains(.share),
            let share = try snapshot.share(ofRecord: version.record)
        else { return nil }
        guard let root = share.root else { return .zone }
        return try snapshot.location(of: root).map { .record($0.name) }
    }

    private func zone(_ number: ZoneNumber) throws -> Zone? {
        if let known = zones[number] { return known }
        let found = try look(number)
        zones[number] = .some(found)
        return found
    }

    private func look(_ number: ZoneNumber) throws -> Zone? {
        guard let zone = try snapshot.zone(number), !zone.isDeleted,
            selection.zone.map({ $0 == zone.name }) ?? true,
            let owner = try snapshot.ownerName(zone.owner)
        else { return nil }
        let words = SearchWords(snapshot, limits: limits)
        let tests = try selection.filters.map { filter in
            FilterTest(filter, in: zone.name, words: try words.words(of: filter)) {
                try words.words(in: $0)
            }
        }
        return Zone(owner: owner, name: zone.name, tests: tests)
    }
}
