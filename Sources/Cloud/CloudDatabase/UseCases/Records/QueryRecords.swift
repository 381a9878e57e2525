import CloudModel
import Cryptography
import JSON
import Storage

/// Finds records by what is in them (web-services.md §4.1, rulings.md 21-24).
///
/// `prepare` makes the indexes that a query first needs; then the caller asks for the page again. A page sees
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
    ///   (`limits.queryRowsMax`); TRY_AGAIN_LATER when it takes too long (`limits.queryMillisecondsMax`).
    ///   `MissingIndexes` while an index is not whole, with nothing appended.
    package func append(to writer: inout JSONWriter) throws -> QueryEnd {
        let start = writer.bytes.count
        do {
            return try database.read {
                QueryEnd(
                    marker: try append(from: $0, to: &writer), syncToken: try syncToken($0))
            }
        } catch let missing as MissingIndexes {
            writer.bytes.removeLast(writer.bytes.count - start)
            throw missing
        } catch let limit as QueryLimitReached {
            throw limit.fault(database.limits, hint: QueryPlan(query).hint)
        } catch StorageFailure.interrupted {
            throw QueryLimitReached.time.fault(database.limits, hint: QueryPlan(query).hint)
        }
    }

    private func append(
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws -> String? {
        let budget = QueryBudget(database.limits, checkStop: snapshot.checkStop)
        snapshot.indexReader.endSnapshot(afterMilliseconds: database.limits.queryMillisecondsMax)
        guard let type = try snapshot.recordTypes()[query.type.text] else {
            throw Fault.unknownRecordType(query.type.text)
        }
        let access = try access(snapshot)
        let query = try query(for: access)
        let zones = try zones(snapshot)
        let markers = QueryMarkers(
            query, zone: request.zone == nil ? nil : zones.first?.number ?? ZoneNumber(0),
            of: database, key: key, identity: try snapshot.identity)
        let marker = try request.continuationMarker.flatMap { $0.isEmpty ? nil : $0 }
            .map { try markers.read($0) }
        guard !zones.isEmpty else { return nil }
        let reading = QueryReading(
            plan: QueryPlan(query), zones: zones,
            indexes: try indexes(of: query, in: zones, snapshot, type),
            reader: snapshot.indexReader,
            words: SearchWords(snapshot.indexReader, limits: database.limits),
            snapshot: snapshot, type: type, budget: budget,
            limit: min(request.resultsLimit, database.limits.recordsPerResponseMax),
            shared: try shared(snapshot))
        if let source = marker?.source, source.filter == nil, source.kind != .walk,
            reading.shared?.wholeZone != nil
        {
            // The marker is from when trees of the zone were shared; now the whole zone is.
            throw QueryMarkers.unknown
        }
        let source =
            try marker?.source ?? reading.concealingSource(access, database.limits)
            ?? reading.plan.source(count: reading.count)
        let page = try QueryPage(
            reading, from: source, after: marker?.place, for: request, of: database)
        let last = try page.append(to: &writer)
        let reach = try max(page.reach, marker?.reach ?? 0, ownReach(zones, snapshot))
        return last.map { markers.text(QueryMarker(source: source, place: $0, reach: reach)) }
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
        var last = zones.map(\.changed).max() ?? 0
        // A default zone does not keep it.
        for zone in zones where zone.name.isDefault {
            try snapshot.versions(
                in: zone.number, after: last, through: .max, newestFirst: true
            ) {
                last = max(last, $0.position)
                return false
            }
        }
        return last
    }

    /// Which records the caller may read: in the public database, as the grants of the type say.
    private func access(_ snapshot: any StoreSnapshot) throws -> QueryAccess {
        guard database.scope == .public else { return request.access }
        return try RecordAccess(database, snapshot).queried(query.type)
    }

    /// What the caller sees of another user's zone; nil in other databases.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER while queued work goes through a shared tree: the client would take
    ///   the records found so far for all there are.
    private func shared(_ snapshot: any StoreSnapshot) throws -> ZoneAccess? {
        guard database.scope == .shared, let zone = request.zone else { return nil }
        let access = try database.access(to: zone, snapshot)
        try access.requireSettled()
        return access
    }

    /// The query, limited to the records that the caller made when they may see no others.
    private func query(for access: QueryAccess) throws -> RecordQuery {
        guard case .own(let user) = access else { return query }
        var held = query
        held.filters.append(
            RecordQuery.Filter(
                subject: .system(.createdBy), comparator: .equals, type: FieldType(.reference),
                value: .user(user.text)))
        return held
    }

    /// The indexes of the query as the snapshot has them.
    private func indexes(
        of query: RecordQuery, in zones: [StoredZone], _ snapshot: any StoreSnapshot, _ type: Int64
    ) throws -> [IndexNeed: StoredIndex] {
        let needs = QueryPlan(query).needs
        guard !needs.isEmpty else { return [:] }
        var found: [IndexNeed: StoredIndex] = [:]
        for index in try snapshot.indexReader.indexes(ofType: type)
        where index.state == .whole && needs.contains(index.need) {
            found[index.need] = index
        }
        guard found.count == needs.count else { throw MissingIndexes(needs: needs) }
        for index in found.values {
            for zone in zones
            where try snapshot.indexReader.isLate(index.number, in: zone.number) {
                throw MissingIndexes(needs: [index.need], isLate: true)
            }
        }
        return found
    }

    /// Asks for indexes to be made, and tells how far they are.
    ///
    /// Blocks until the request for them is on disk, but not until they are whole.
    ///
    /// - Returns: nil when the page can be asked for again; else the fault for a client that no longer waits.
    package func prepare(_ missing: MissingIndexes) throws -> Fault? {
        let needs = missing.needs
        let fields = Set(needs.map { SystemField(rawValue: $0.field)?.wireName ?? $0.field })
            .sorted().joined(separator: ", ")
        guard !missing.isLate else {
            return Fault.tryAgainLater(
                "the index on \(fields) takes in records that were saved just now", seconds: 2)
        }
        guard let type = try database.storage.schema.types[query.type] else {
            throw Fault.unknownRecordType(query.type.text)
        }
        let progress = try database.storage.prepareIndexes(
            needs, ofType: type.number, waitMillisecondsMax: 0)
        guard let progress else { return nil }
        return Fault.tryAgainLater(
            "the index on \(fields) is being built: "
                + "\(progress.percent) % of the records are in it", seconds: 5)
    }

    /// The living zones that the query asks; none for a default zone that nobody has written to.
    private func zones(_ snapshot: any StoreSnapshot) throws -> [StoredZone] {
        if let zone = request.zone { return try database.zone(zone, snapshot).map { [$0] } ?? [] }
        guard let owner = try database.owner(snapshot) else { return [] }
        return try snapshot.zones(of: owner.number)
    }
}
