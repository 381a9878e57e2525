import CloudDatabase
import CloudModel
import JSON
import RecordDecoding
import Storage

/// `records/query` (web-services.md §4.1): one page of what a query finds, and a marker when there is more.
enum QueryRecordsEndpoint {
    static func answer(_ context: RequestContext) throws -> NextStep {
        let database = try context.database()
        let request = try request(try context.body(), database, context)
        let query = try QueryRecords(request, of: database, key: context.store.tokenKey)
        var writer = JSONWriter(reserving: 16_384)
        writer.raw("{\"records\":[")
        let end: QueryEnd
        do {
            end = try query.append(to: &writer)
        } catch let unprepared as QueryUnprepared {
            // This holds no thread: what is missing is asked for, and later the page is made again.
            guard context.executor.mayWaitForCommits else { return .again(on: .commits) }
            guard let fault = try query.prepare(unprepared) else { return .again(on: .short) }
            return .wait(
                EarlyAnswer(
                    parts: [.indexes], outcome: .failure(fault),
                    millisecondsMax: context.limits.indexWaitMilliseconds))
        }
        writer.raw("]")
        var work = RequestWork()
        work.zone = request.zone.map { ZoneProgress($0) }
        work.items = 1
        work.records = end.records
        context.exchange.keep(work)
        if let marker = end.marker {
            writer.member("continuationMarker", marker)
        }
        if let token = end.syncToken {
            writer.member("syncToken", token)
        }
        writer.raw("}")
        return .answer(writer.bytes)
    }

    private static func request(
        _ body: RequestObject, _ database: Database, _ context: RequestContext
    ) throws -> QueryRequest {
        let query = try body.requiredObject("query")
        let zone = try zone(body, database, context.zones)
        let marker = try body.string("continuationMarker")
        let limit = try body.resultsLimit(context.limits) ?? context.limits.recordsPerResponseMax
        let rendering = try body.rendering()
        let wantsSyncToken = try wantsSyncToken(body, database, context)
        var decoder = QueryDecoder(zones: context.zones, limits: context.limits)
        let decoded = try decoder.decode(query)
        do {
            return QueryRequest(
                query: try QueryCheck.admit(
                    decoded, to: database.storage.schema, in: database),
                zone: zone, continuationMarker: marker, resultsLimit: limit, rendering: rendering,
                wantsSyncToken: wantsSyncToken)
        } catch {
            // Callers who may not read a type's records must not learn its fields.
            try QueryRecords.checkRight(toRead: decoded.type, in: database)
            throw error
        }
    }

    /// Whether the request asks for the zone's token, and the zone may have one.
    ///
    /// Some clients ask for it in the query string, others in the body.
    private static func wantsSyncToken(
        _ body: RequestObject, _ database: Database, _ context: RequestContext
    ) throws -> Bool {
        let isAsked =
            try body.bool("getCurrentSyncToken")
            ?? (context.query.text("getCurrentSyncToken") == "true")
        return try isAsked && (database.scope != .public || context.servesPublicChanges())
    }

    /// The zone that is asked, or nil for all zones of the database (rulings.md 24).
    private static func zone(
        _ body: RequestObject, _ database: Database, _ zones: ZoneReader
    ) throws(Fault) -> ZoneID? {
        let isZoneWide = try body.bool("zoneWide") ?? false
        guard isZoneWide, body["zoneID"] == nil else { return try zones.zone(of: body) }
        switch database.scope {
        case .private: return nil
        case .public: return .defaultZone
        case .shared:
            throw .badRequest(
                "zoneWide: the shared database is queried zone by zone; name one in zoneID")
        }
    }
}

extension QueryRecordsEndpoint {
    static let takes = ObjectShape(
        "QueryRecordsRequest",
        [
            .required("query", .object(QueryDecoder.shape)), ZoneReader.key,
            .optional("zoneWide", .flag), .optional("continuationMarker", .text),
            .resultsLimit, .optional("getCurrentSyncToken", .flag),
        ] + ObjectKey.rendering)

    static let answers = ObjectShape(
        "FoundRecords",
        [
            .required("records", .list(.object(AnswerShapes.record))),
            .optional("continuationMarker", .text), .optional("syncToken", .text),
        ])
}
