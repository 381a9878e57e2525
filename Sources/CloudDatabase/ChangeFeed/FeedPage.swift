import CloudModel
import JSON
import Storage

/// The numbers of the record types as the snapshot has them, read once when first asked for.
///
/// The schema at hand may be of a moment before the snapshot, and what a page hides is not shown again.
final class TypeNumbers {
    private let snapshot: any StoreSnapshot
    private var known: [String: Int64]?
    private var names: [Int64: String]?

    init(_ snapshot: any StoreSnapshot) { self.snapshot = snapshot }

    func all() throws -> [String: Int64] {
        if let known { return known }
        let read = try snapshot.recordTypes()
        known = read
        return read
    }

    /// The name of a type; empty for a number that there is none for.
    func name(of number: Int64) throws -> String {
        if let names { return names[number] ?? "" }
        let made = Dictionary(try all().map { ($1, $0) }) { first, _ in first }
        names = made
        return made[number] ?? ""
    }
}

/// One page of a zone's feed being filled.
struct FeedPage {
    private let request: ZoneChangesRequest
    private let database: Database
    /// The types asked for; nil for all.
    private let types: Set<Int64>?
    private var recordsLeft: Int
    private var rowsLeft: Int
    private var bytesLeft: Int
    private var isCutShort = false
    /// Whether nothing has been shown.
    private(set) var isEmpty = true
    private var recordCount = 0
    private let bytesAtStart: Int

    /// After so many records the rest of the page is known well enough to make room for it.
    private static let sampleCount = 16

    init(
        _ request: ZoneChangesRequest, types: TypeNumbers, database: Database, budget: PageBudget
    ) throws {
        self.request = request
        self.database = database
        recordsLeft = min(request.resultsLimit, database.limits.recordsPerResponseMax)
        rowsLeft = budget.rows
        bytesLeft = budget.bytes
        bytesAtStart = budget.bytes
        self.types = try request.recordTypes.map { wanted in
            let known = try types.all()
            // The shorter one is gone through: clients may ask for names without end.
            guard wanted.count < known.count else {
                return Set(known.filter { wanted.contains($0.key) }.map(\.value))
            }
            return Set(wanted.compactMap { known[$0] })
        }
    }

    /// Records that may still be shown.
    var roomForRecords: Int { recordsLeft }

    mutating func hasRoom(for version: StoredVersion) -> Bool { hasRoom(bytes: version.body.count) }

    /// Whether one more record of a size may be shown.
    mutating func hasRoom(bytes: Int) -> Bool {
        guard hasRoomForRow else { return false }
        isCutShort = !isEmpty && bytes >= bytesLeft
        return !isCutShort
    }

    /// Whether one more row may be looked at.
    var hasRoomForRow: Bool { recordsLeft > 0 && rowsLeft > 0 }

    /// Notes a row that shows nothing.
    mutating func pass() { rowsLeft -= 1 }

    /// Whether records of a type are wanted.
    func wants(_ type: Int64) -> Bool { types?.contains(type) ?? true }

    /// Takes what the page took from what the answer may still take.
    func settle(_ budget: inout PageBudget) {
        budget.bytes = isCutShort ? 0 : bytesLeft
        budget.rows = rowsLeft
    }

    mutating func append(
        _ version: StoredVersion, skipsDeletionsThrough unseen: Position,
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws {
        if version.flags.contains(.tombstone) {
            guard version.position > unseen else { return pass() }
            append(deletion: version.body, to: &writer)
        } else if wants(version.type) {
            try append(record: version, from: snapshot, to: &writer)
        } else {
            pass()
        }
    }

    /// Shows a living record.
    mutating func append(
        record version: StoredVersion, from snapshot: any StoreSnapshot,
        to writer: inout JSONWriter
    ) throws {
        begin(bytes: version.body.count, &writer)
        try database.append(
            version.record, version.flags, version.body, as: request.rendering, from: snapshot,
            to: &writer)
        recordCount += 1
        if recordCount == Self.sampleCount { makeRoom(in: &writer) }
    }

    /// Shows that a record is gone.
    mutating func append(deletion body: UnsafeRawBufferPointer, to writer: inout JSONWriter) {
        begin(bytes: body.count, &writer)
        writer.raw(body)
    }

    private mutating func begin(bytes: Int, _ writer: inout JSONWriter) {
        if !isEmpty { writer.raw(",") }
        isEmpty = false
        rowsLeft -= 1
        recordsLeft -= 1
        bytesLeft -= bytes + 1
    }

    /// Growing by doubling would copy a long page several times.
    private func makeRoom(in writer: inout JSONWriter) {
        let average = (bytesAtStart - bytesLeft) / Self.sampleCount
        let expected = min(recordsLeft * (average + average / 8), bytesLeft)
        writer.bytes.reserveCapacity(writer.bytes.count + expected)
    }
}
