import CloudModel
import Cryptography
import JSON
import Storage

/// Reads pages of zone feeds (web-services.md §4.6, rulings.md 27-31).
///
/// The feed holds each record once, at its last change. A page ends at its count, at the answer's
/// bytes, or at the rows that it may look at.
package struct FetchZoneChanges {
    private let database: Database
    private let tokens: SyncTokens
    private let snapshot: any StoreSnapshot
    private let types: TypeNumbers

    /// - Parameters:
    ///   - key: prepared from the store's token key.
    /// - Throws: `Fault` BAD_REQUEST in the public database, which has no feed.
    package init(
        _ database: Database, key: HMACSHA256, snapshot: any StoreSnapshot
    ) throws(Fault) {
        try database.refuse(unless: database.scope != .public)
        self.database = database
        self.tokens = SyncTokens(database, key: key)
        self.snapshot = snapshot
        self.types = TypeNumbers(snapshot)
    }

    /// Appends one page's records, joined by commas, to an answer.
    ///
    /// - Parameter budget: what the answer may still take; at least one record is shown while it is
    ///   not used up.
    /// - Throws: `Fault` for the zone: ZONE_NOT_FOUND, BAD_REQUEST for a default zone or a bad token.
    package func append(
        _ request: ZoneChangesRequest, to writer: inout JSONWriter, budget: inout PageBudget
    ) throws -> ZoneChangesPage {
        try database.check(request.zone)
        guard !request.zone.name.isDefault else {
            throw Fault.badRequest("cannot get changes in default zone")
        }
        guard let zone = try database.zone(request.zone, snapshot) else {
            throw Fault.zoneNotFound
        }
        let start = try start(request, in: zone)
        guard !budget.isExhausted else {
            let unmoved = tokens.token(
                .zone, zone: zone, position: start.position, cursor: start.cursor)
            return ZoneChangesPage(syncToken: unmoved, moreComing: true)
        }
        return request.newestFirst
            ? try appendNewestFirst(request, zone, start, &writer, &budget)
            : try appendOldestFirst(request, zone, start, &writer, &budget)
    }

    /// Appends the zone's ID as answers have it.
    package func appendZoneID(of zone: ZoneID, to writer: inout JSONWriter) {
        writer.raw(ZoneJSON.identifier(zone.name, owner: zone.owner ?? database.ownerRecordName))
    }

    private func start(_ request: ZoneChangesRequest, in zone: StoredZone) throws -> SyncToken {
        if let text = request.syncToken, !text.isEmpty {
            return try tokens.read(text, .zone, zone: zone, wholeAfter: zone.wholeAfter)
        }
        return SyncToken(
            feed: .zone, incarnation: database.storage.identity.incarnation, zone: zone.number,
            place: 0, position: 0, cursor: .first(through: zone.changed))
    }

    private func appendOldestFirst(
        _ request: ZoneChangesRequest, _ zone: StoredZone, _ start: SyncToken,
        _ writer: inout JSONWriter, _ budget: inout PageBudget
    ) throws -> ZoneChangesPage {
        var page = try Page(request, types: types, database: database, budget: budget)
        let unseenThrough: Position =
            switch start.cursor {
            case .none: 0
            case .first(let through): through
            // A client that turns round in the middle begins again where it began.
            case .reverse(_, let until): start.position == 0 ? until : 0
            }
        var position = max(start.position, zone.created)
        var more = false
        if position < zone.changed {
            try snapshot.versions(
                in: zone.number, after: start.position, through: zone.changed, newestFirst: false
            ) { version in
                guard page.hasRoom(for: version) else {
                    more = true
                    return false
                }
                try page.append(
                    version, skipsDeletionsThrough: unseenThrough, from: snapshot, to: &writer)
                position = version.position
                return true
            }
            if !more { position = zone.changed }
        }
        page.settle(&budget)
        let cursor: SyncToken.Cursor =
            more && position < unseenThrough ? .first(through: unseenThrough) : .none
        return ZoneChangesPage(
            syncToken: tokens.token(.zone, zone: zone, position: position, cursor: cursor),
            moreComing: more)
    }

    private func appendNewestFirst(
        _ request: ZoneChangesRequest, _ zone: StoredZone, _ start: SyncToken,
        _ writer: inout JSONWriter, _ budget: inout PageBudget
    ) throws -> ZoneChangesPage {
        var page = try Page(request, types: types, database: database, budget: budget)
        var (before, until) = (zone.changed + 1, zone.changed)
        var unseenThrough = start.position == 0 ? zone.changed : 0
        if case .reverse(let first, let second) = start.cursor { (before, until) = (first, second) }
        if case .first(let through) = start.cursor { unseenThrough = through }
        var more = false
        try snapshot.versions(
            in: zone.number, after: start.position, through: before - 1, newestFirst: true
        ) { version in
            guard page.hasRoom(for: version) else {
                more = true
                return false
            }
            try page.append(
                version, skipsDeletionsThrough: unseenThrough, from: snapshot, to: &writer)
            before = version.position
            return true
        }
        page.settle(&budget)
        let token =
            more
            ? tokens.token(
                .zone, zone: zone, position: start.position,
                cursor: .reverse(before: before, until: until))
            : tokens.token(.zone, zone: zone, position: max(until, start.position))
        return ZoneChangesPage(syncToken: token, moreComing: more)
    }
}

/// The numbers of the record types as the snapshot has them, read once when first asked for.
///
/// The schema at hand may be of a moment before the snapshot, and what a page hides is not shown again.
private final class TypeNumbers {
    private let snapshot: any StoreSnapshot
    private var known: [String: Int64]?

    init(_ snapshot: any StoreSnapshot) { self.snapshot = snapshot }

    func all() throws -> [String: Int64] {
        if let known { return known }
        let read = try snapshot.recordTypes()
        known = read
        return read
    }
}

/// One page being filled.
private struct Page {
    private let request: ZoneChangesRequest
    private let database: Database
    private let types: Set<Int64>?
    private var recordsLeft: Int
    private var rowsLeft: Int
    private var bytesLeft: Int
    private var isCutShort = false
    private var isEmpty = true
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

    mutating func hasRoom(for version: StoredVersion) -> Bool {
        guard recordsLeft > 0 && rowsLeft > 0 else { return false }
        isCutShort = !isEmpty && version.body.count >= bytesLeft
        return !isCutShort
    }

    /// Takes what the page took from what the answer may still take.
    func settle(_ budget: inout PageBudget) {
        budget.bytes = isCutShort ? 0 : bytesLeft
        budget.rows = rowsLeft
    }

    mutating func append(
        _ version: StoredVersion, skipsDeletionsThrough unseen: Position,
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws {
        rowsLeft -= 1
        if version.flags.contains(.tombstone) {
            if version.position <= unseen { return }
        } else if let types, !types.contains(version.type) {
            return
        }
        if !isEmpty { writer.raw(",") }
        isEmpty = false
        recordsLeft -= 1
        bytesLeft -= version.body.count + 1
        if version.flags.contains(.tombstone) {
            writer.raw(version.body)
        } else {
            try database.append(
                version.record, version.flags, version.body, as: request.rendering,
                from: snapshot, to: &writer)
        }
        recordCount += 1
        if recordCount == Self.sampleCount { makeRoom(in: &writer) }
    }

    /// Growing by doubling would copy a long page several times.
    private func makeRoom(in writer: inout JSONWriter) {
        let average = (bytesAtStart - bytesLeft) / Self.sampleCount
        let expected = min(recordsLeft * (average + average / 8), bytesLeft)
        writer.bytes.reserveCapacity(writer.bytes.count + expected)
    }
}
