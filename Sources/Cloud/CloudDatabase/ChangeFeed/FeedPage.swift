import CloudModel
import JSON
import Storage

/// The names of the record types by their numbers in the snapshot, read once when first needed.
///
/// Types that the schema no longer has are included: feeds still tell deletions of their records.
final class TypeNumbers {
    private let snapshot: any StoreSnapshot
    private var known: [RecordTypeName: Int64]?
    private var names: [Int64: String]?

    init(_ snapshot: any StoreSnapshot) { self.snapshot = snapshot }

    func all() throws -> [RecordTypeName: Int64] {
        if let known { return known }
        let read = try snapshot.schema.typeNumbers
        known = read
        return read
    }

    /// The name of a type; empty when no type has this number.
    func name(of number: Int64) throws -> String {
        if let names { return names[number] ?? "" }
        let made = Dictionary(try all().map { ($1, $0.text) }) { first, _ in first }
        names = made
        return made[number] ?? ""
    }
}

/// One page of a zone's feed that is being filled.
struct FeedPage {
    private let request: ZoneChangesRequest
    private let database: Database
    /// The types asked for; nil for all.
    private let types: Set<Int64>?
    /// What the caller may read of the public database; nil in other databases.
    private let rights: RecordAccess?
    private var recordsLeft: Int
    private let recordsMax: Int
    private var rowsLeft: Int
    private var bytesLeft: Int
    private var isCutShort = false
    /// Whether the page shows nothing yet.
    private(set) var isEmpty = true
    private var recordCount = 0
    private let bytesAtStart: Int

    /// After so many records, their sizes are known well enough to make room for the rest of the page.
    private static let sampleCount = 4
    /// How many rows pass between two checks whether anybody still wants the page.
    private static let rowsBetweenChecks = 64

    init(
        _ request: ZoneChangesRequest, types: TypeNumbers, rights: RecordAccess? = nil,
        database: Database, budget: PageBudget
    ) throws {
        self.request = request
        self.database = database
        self.rights = rights
        recordsMax = min(request.resultsLimit, database.limits.recordsPerResponseMax)
        recordsLeft = recordsMax
        rowsLeft = budget.rows
        bytesLeft = budget.bytes
        bytesAtStart = budget.bytes
        self.types = try request.recordTypes.map { wanted in
            let known = try types.all()
            // Goes through the shorter list, because clients may ask for any number of names.
            guard wanted.count < known.count else {
                return Set(known.filter { wanted.contains($0.key.text) }.map(\.value))
            }
            return Set(wanted.compactMap { RecordTypeName($0).flatMap { known[$0] } })
        }
    }

    /// Records and deletions that it shows.
    var shownCount: Int { recordsMax - recordsLeft }

    /// Records that may still be shown.
    var roomForRecords: Int { recordsLeft }

    /// Whether the page may look at one more row and show it; a row that is not shown takes no room.
    @inline(__always)
    mutating func hasRoom(for version: StoredVersion) throws -> Bool {
        if rights != nil, try !mayRead(version) { return hasRoomForRow }
        return hasRoom(bytes: version.body.count)
    }

    /// Whether the page may show one more record of a size.
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
    // Called, it would be handed a copy of the page for every record.
    @inline(__always)
    func wants(_ type: Int64) -> Bool { types?.contains(type) ?? true }

    /// Subtracts what the page took from what the answer may still take.
    func settle(_ budget: inout PageBudget) {
        budget.bytes = isCutShort ? 0 : bytesLeft
        budget.rows = rowsLeft
    }

    mutating func append(
        _ version: StoredVersion, skipsDeletionsThrough unseen: Position,
        with shares: ShownShares, to writer: inout JSONWriter
    ) throws {
        if rowsLeft % Self.rowsBetweenChecks == 0 { try database.checkStop() }
        if version.flags.contains(.tombstone) {
            guard version.position > unseen else { return pass() }
            if rights != nil, try !mayRead(version) { return pass() }
            append(deletion: version.body, to: &writer)
        } else if wants(version.type) {
            if rights != nil, try !mayRead(version) { return pass() }
            try append(record: version, with: shares, to: &writer)
        } else {
            pass()
        }
    }

    /// Whether the caller may see a row of the public feed.
    ///
    /// Nobody knows any more who made a deleted record. So callers who may read only their own records hear
    /// of no deletions. Users are in no feed, as they are in no query.
    private func mayRead(_ version: StoredVersion) throws -> Bool {
        guard let rights else { return true }
        guard !rights.isOfUsers(version.type) else { return false }
        return try rights.allows(.read, ofType: version.type) {
            version.flags.contains(.tombstone) ? nil : try RecordBody.creator(of: version)
        }
    }

    /// Shows a living record.
    @inline(__always)
    mutating func append(
        record version: StoredVersion, with shares: ShownShares, to writer: inout JSONWriter
    ) throws {
        begin(bytes: version.body.count, &writer)
        try database.append(version, as: request.rendering, with: shares, to: &writer)
        recordCount += 1
        if recordCount == Self.sampleCount { makeRoom(in: &writer) }
    }

    /// Shows that a record was deleted.
    mutating func append(deletion body: UnsafeRawBufferPointer, to writer: inout JSONWriter) {
        begin(bytes: body.count, &writer)
        writer.raw(body)
    }

    private mutating func begin(bytes: Int, _ writer: inout JSONWriter) {
        if !isEmpty { writer.byte(UInt8(ascii: ",")) }
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
