import CloudModel
import JSON
import Storage

/// Tells within one snapshot which versions are wanted, and shows them.
final class SurveyReader {
    private struct Zone {
        let owner: UserRecordName
        let name: ZoneName
        let tests: [FilterTest]
    }

    /// A share's version that is shown later, together with others.
    private struct WaitingShare {
        let version: StoredVersion
        let zone: Zone
        let body: [UInt8]
    }

    /// How many shares wait at most, and how many bytes of them.
    private static let waitingMax = 200
    private static let waitingBytesMax = 4 << 20
    /// How many zones are read with one that is asked for: mostly those whose records come next.
    private static let zonesMax = 100

    private let selection: RecordSelection
    private let snapshot: any StoreSnapshot
    private let words: SearchWords
    private let viewed: (UserRecordName) -> Database
    private let type: Int64?
    /// Nil for zones that are not wanted.
    private var zones: [ZoneNumber: Zone?] = [:]
    private var waiting: [WaitingShare] = []
    private var waitingBytes = 0
    private var waitingZone: ZoneNumber?

    init(
        _ selection: RecordSelection, _ snapshot: any StoreSnapshot, _ limits: ServiceLimits,
        _ viewed: @escaping (UserRecordName) -> Database
    ) throws {
        self.selection = selection
        self.snapshot = snapshot
        words = SearchWords(limits)
        self.viewed = viewed
        // No record has the number 0: a type that does not exist has no records.
        type = try selection.type.map { try snapshot.schema.number(of: $0) ?? 0 }
    }

    /// Shows a version that is wanted, a share's later.
    func visit(
        _ version: StoredVersion, in number: ZoneNumber, _ visit: (SurveyedRecord) throws -> Void
    ) throws {
        let flags = version.flags
        guard !flags.contains(.tombstone), type.map({ $0 == version.type }) ?? true,
            let zone = try zone(number)
        else { return }
        if !zone.tests.isEmpty {
            let fields = try StoredFields(version.body, fields: version.ranges?.fields)
            for test in zone.tests where !test.holds(for: fields) { return }
        }
        if waitingZone != number { try finish(visit) }
        if flags.contains(.share) {
            waitingZone = number
            let body = [UInt8](version.body)
            waiting.append(WaitingShare(version: version, zone: zone, body: body))
            waitingBytes += body.count
            guard waiting.count < Self.waitingMax, waitingBytes < Self.waitingBytesMax else {
                return try finish(visit)
            }
            return
        }
        guard flags.contains(.hasAssets) else {
            return try visit(
                SurveyedRecord(
                    owner: zone.owner, zone: zone.name, body: version.body, files: [], share: nil))
        }
        try show(version, in: zone, with: ShownShares(snapshot), root: nil, visit)
    }

    /// Shows the shares that wait.
    func finish(_ visit: (SurveyedRecord) throws -> Void) throws {
        guard !waiting.isEmpty else { return }
        let shown = waiting
        (waiting, waitingBytes, waitingZone) = ([], 0, nil)
        let shares = ShownShares(snapshot) { shown.map(\.version.record) }
        let roots = try shown.map { try shares.entry(of: $0.version.record)?.share }
        let locations = try snapshot.recordLocations(roots.compactMap { $0?.root })
        for (one, share) in zip(shown, roots) {
            let root = share.flatMap { Self.root(of: $0, locations) }
            try one.body.withUnsafeBytes { body in
                let version = StoredVersion(
                    record: one.version.record, position: one.version.position,
                    type: one.version.type, flags: one.version.flags, body: body,
                    ranges: one.version.ranges)
                try show(version, in: one.zone, with: shares, root: root, visit)
            }
        }
    }

    private static func root(
        of share: StoredShare, _ locations: [RecordNumber: RecordLocation]
    ) -> SurveyedRecord.SharedRoot? {
        guard let root = share.root else { return .zone }
        return locations[root].map { .record($0.name) }
    }

    private func show(
        _ version: StoredVersion, in zone: Zone, with shares: ShownShares,
        root: SurveyedRecord.SharedRoot?, _ visit: (SurveyedRecord) throws -> Void
    ) throws {
        var writer = JSONWriter(reserving: version.body.count)
        try viewed(zone.owner).append(version, as: .whole, with: shares, to: &writer)
        let files = try ErasePerson.files(of: version)
        try writer.bytes.withUnsafeBytes {
            try visit(
                SurveyedRecord(
                    owner: zone.owner, zone: zone.name, body: $0, files: files, share: root))
        }
    }

    private func zone(_ number: ZoneNumber) throws -> Zone? {
        if let known = zones[number] { return known }
        let numbers = (0..<Int64(Self.zonesMax)).map { ZoneNumber(number.value + $0) }
        let stored = try snapshot.ownedZones(numbers)
        for number in numbers { zones[number] = .some(try stored[number].flatMap(wanted)) }
        return zones[number] ?? nil
    }

    private func wanted(_ stored: (zone: StoredZone, owner: UserRecordName)) throws -> Zone? {
        let zone = stored.zone
        guard !zone.isDeleted, selection.zone.map({ $0 == zone.name }) ?? true else { return nil }
        let tests = try selection.filters.map { filter in
            FilterTest(filter, in: zone.name, words: try words.words(of: filter))
        }
        return Zone(owner: stored.owner, name: zone.name, tests: tests)
    }
}
