import CloudModel
import Cryptography
import JSON
import Storage

/// Finds records by what is in them (web-services.md §4.1, rulings.md 21-24).
///
/// `prepare` asks for what the engine must do before it first answers a query; then the caller asks for the page again. A page sees
/// every write that was acknowledged before the page began.
package struct QueryRecords {
    private let request: QueryRequest
    private let database: Database
    private let key: HMACSHA256
    private let query: RecordQuery

    /// - Parameters:
    ///   - request: a query that the schema allows.
    ///   - key: prepared from the store's token key.
    /// - Throws: `Fault` for a zone that this database cannot have.
    package init(
        _ request: QueryRequest, of database: Database, key: HMACSHA256
    ) throws(Fault) {
        if let zone = request.zone { try database.check(zone) }
        self.request = request
        self.database = database
        self.key = key
        query = request.query
    }

    /// Refuses a query of a type of which the caller may read no record.
    ///
    /// - Throws: `Fault` ACCESS_DENIED; what the storage reports.
    package static func checkRight(
        toRead type: RecordTypeName, in database: Database
    ) throws {
        guard type != .users else { return }
        try database.read {
            _ = try RecordAccess(database, $0).queried(type)
        }
    }

    /// Appends one page's records, joined by commas, to an answer.
    ///
    /// Blocks: never on an event loop.
    ///
    /// - Throws: `Fault` ZONE_NOT_FOUND; NOT_FOUND for a record type that does not exist; ACCESS_DENIED
    ///   for one of which the caller may read no record (rulings.md 6); BAD_REQUEST
    ///   for a marker of another query, or when too many records must be looked at
    ///   (`limits.queryRowsMax`); TRY_AGAIN_LATER when it takes too long (`limits.queryMillisecondsMax`);
    ///   INTERNAL_ERROR where the first record is not what was written.
    ///   `QueryUnprepared` while the engine has to do something first, with nothing appended.
    package func append(to writer: inout JSONWriter) throws -> QueryEnd {
        let start = writer.bytes.count
        do {
            return try database.read {
                var end = try append(from: $0, to: &writer)
                end.syncToken = try syncToken($0)
                return end
            }
        } catch let unprepared as QueryUnprepared {
            writer.bytes.removeLast(writer.bytes.count - start)
            throw unprepared
        } catch let refusal as QueryRefusal {
            throw fault(refusal)
        } catch StorageFailure.interrupted {
            throw fault(.tooLong)
        } catch is DamagedVersion {
            throw Fault.recordUnreadable
        }
    }

    private func append(
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws -> QueryEnd {
        guard let type = try snapshot.schema.number(of: query.type) else {
            throw Fault.unknownRecordType(query.type.text)
        }
        let sight = try sight(snapshot)
        let zones = try zones(snapshot)
        let markers = QueryMarkers(
            query, by: sight,
            zone: request.zone == nil ? nil : zones.first?.number ?? ZoneNumber(0),
            of: database, key: key, identity: try snapshot.identity)
        let marker = try request.continuationMarker.flatMap { $0.isEmpty ? nil : $0 }
            .map { try markers.read($0) }
        let page = StoreQuery(
            query, type: type, zones: zones, sight: sight, words: try words(snapshot),
            start: marker?.cursor,
            limit: min(request.resultsLimit, database.limits.recordsPerResponseMax),
            bytesMax: database.limits.pageBytesMax, bounds: bounds)
        let shares = ShownShares(snapshot)
        var (count, reach): (Int, Position) = (0, 0)
        let end = try snapshot.page(of: page) { version in
            if count > 0 { writer.raw(",") }
            try database.append(version, as: request.rendering, with: shares, to: &writer)
            count += 1
            reach = max(reach, version.position)
        }
        guard let end else { return QueryEnd(records: count) }
        reach = try max(reach, marker?.reach ?? 0, ownReach(zones, snapshot))
        return QueryEnd(
            marker: markers.text(QueryMarker(cursor: end, reach: reach)), records: count)
    }

    private var bounds: QueryBounds {
        QueryBounds(
            recordsMax: database.limits.queryRowsMax,
            millisecondsMax: database.limits.queryMillisecondsMax,
            sharedRecordsMax: database.limits.sharedQueryRecordsMax)
    }

    /// What each filter on words looks for.
    private func words(_ snapshot: any StoreSnapshot) throws -> [Int: [[UInt8]]] {
        let search = SearchWords(database.limits)
        var found: [Int: [[UInt8]]] = [:]
        for (index, filter) in query.filters.enumerated() {
            found[index] = try search.words(of: filter)
        }
        return found
    }

    /// The fault that the client gets.
    private func fault(_ refusal: QueryRefusal) -> Fault {
        let limits = database.limits
        let hint =
            query.filters.contains { $0.comparator.finds }
            ? "add a filter that fewer records match, or sort by the field that is filtered"
            : "add a filter on an indexed field that fewer records match"
        switch refusal {
        case .tooManyRecords:
            return .badRequest(
                "the query looked at \(limits.queryRowsMax) records without filling a page "
                    + "(limits.queryRowsMax); \(hint)", detail: .queryTooCostly)
        case .tooLong:
            var fault = Fault.tryAgainLater(
                "the query took longer than \(limits.queryMillisecondsMax) ms "
                    + "(limits.queryMillisecondsMax); \(hint)")
            fault.detail = .queryTooCostly
            return fault
        case .unknownCursor: return QueryMarkers.unknown
        }
    }

    private func syncToken(_ snapshot: any StoreSnapshot) throws -> String? {
        guard request.wantsSyncToken, let zone = request.zone else { return nil }
        return try FetchZoneChanges(database, key: key, snapshot: snapshot, servesPublic: true)
            .currentToken(of: zone)
    }

    /// How far the caller's own zones have come; 0 in databases where that would tell of other people.
    private func ownReach(
        _ zones: [StoredZone], _ snapshot: any StoreSnapshot
    ) throws -> Position {
        guard database.scope == .private else { return 0 }
        var last = zones.compactMap(\.changed).max() ?? 0
        // A default zone does not keep it.
        for zone in zones where zone.name.isDefault {
            try snapshot.versions(
                in: zone.number, after: last, through: .max, newestFirst: true, expected: 1
            ) {
                last = max(last, $0.position)
                return false
            }
        }
        return last
    }

    /// Which records the caller may read: in the public database, as the grants of the type say.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER while queued work goes through a shared tree: the client would take
    ///   the records found so far for all there are.
    private func sight(_ snapshot: any StoreSnapshot) throws -> QuerySight {
        switch database.scope {
        case .shared:
            guard let zone = request.zone else { break }
            let access = try database.access(to: zone, snapshot)
            try access.requireSettled()
            return .shared(with: access.viewer, isWhole: access.wholeZone != nil)
        case .public:
            if case .own(let user) = try RecordAccess(database, snapshot).queried(query.type) {
                return .made(by: user)
            }
            return .all
        case .private: break
        }
        if case .own(let user) = request.access { return .made(by: user) }
        return .all
    }

    /// Asks for what the engine must do first, and tells how far it is.
    ///
    /// Blocks until the request for it is on disk, but not until it is done.
    ///
    /// - Returns: nil when the page can be asked for again; else the fault for a client that no longer waits.
    package func prepare(_ unprepared: QueryUnprepared) throws -> Fault? {
        let fields = Set(unprepared.fields.map { SystemField(rawValue: $0)?.wireName ?? $0 })
            .sorted().joined(separator: ", ")
        guard !unprepared.isLate else {
            return Fault.tryAgainLater(
                "the index on \(fields) takes in records that were saved just now", seconds: 2)
        }
        guard try database.storage.schema.types[query.type] != nil else {
            throw Fault.unknownRecordType(query.type.text)
        }
        guard let percent = try database.storage.prepare(unprepared.query) else { return nil }
        return Fault.tryAgainLater(
            "the index on \(fields) is being built: \(percent) % of the records are in it",
            seconds: 5)
    }

    /// The living zones that the query asks; none for a default zone that nobody has written to.
    private func zones(_ snapshot: any StoreSnapshot) throws -> [StoredZone] {
        if let zone = request.zone { return try database.zone(zone, snapshot).map { [$0] } ?? [] }
        guard let owner = try database.owner(snapshot) else { return [] }
        return try snapshot.zones(of: owner.number)
    }
}
