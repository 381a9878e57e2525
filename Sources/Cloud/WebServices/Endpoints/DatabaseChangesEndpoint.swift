import CloudDatabase
import CloudModel
import JSON
import RecordDecoding

/// `changes/database` (web-services.md §4.5): the zones that changed.
enum DatabaseChangesEndpoint {
    static func answer(_ context: RequestContext) throws -> NextStep {
        let body = try context.body()
        return try DatabaseFeedAnswer.make(
            context, after: try body.string("syncToken"),
            limit: try body.resultsLimit(context.limits),
            form: .changes, tokenKey: "syncToken", waitSeconds: try body.waitSeconds(context.limits)
        )
    }
}

/// `zones/changes` (web-services.md §4.10): its deprecated form, which speaks of `metaSyncToken`.
enum ZonesChangesEndpoint {
    static func answer(_ context: RequestContext) throws -> NextStep {
        let body = try context.body()
        return try DatabaseFeedAnswer.make(
            context, after: try body.string("metaSyncToken"),
            limit: try body.resultsLimit(context.limits), form: .zones, tokenKey: "metaSyncToken")
    }
}

private enum DatabaseFeedAnswer {
    static func make(
        _ context: RequestContext, after token: String?, limit: Int?,
        form: FetchDatabaseChanges.Form, tokenKey: StaticString, waitSeconds: Int? = nil
    ) throws -> NextStep {
        let database = try context.database()
        // Anyone who takes part in many shares has many places that something may change in.
        if context.loop != nil, database.scope == .shared { return .again(on: .short) }
        let limit = limit ?? context.limits.recordsPerResponseMax
        let most = context.loop == nil ? limit : min(limit, RequestContext.loopZonesMax)
        return try context.read(isOfFeed: true) { snapshot in
            let feed = try FetchDatabaseChanges(
                database, key: context.store.tokenKey, snapshot: snapshot)
            var writer = JSONWriter(reserving: 1_024)
            writer.raw("{\"zones\":[")
            let start = writer.bytes.count
            let page = try feed.append(
                after: token, limit: most, form: form, to: &writer)
            if most < limit, page.moreComing { return .again(on: .short) }
            let hasNews = writer.bytes.count > start || page.moreComing || token?.isEmpty ?? true
            writer.raw("],\"")
            writer.raw(tokenKey)
            writer.raw("\":\"")
            writer.bytes.append(contentsOf: page.syncToken.utf8)
            writer.raw(page.moreComing ? "\",\"moreComing\":true}" : "\",\"moreComing\":false}")
            if let waitSeconds, !hasNews {
                return .wait(
                    EarlyAnswer(
                        parts: try feed.watchedParts(), outcome: .success(writer.bytes),
                        millisecondsMax: waitSeconds * 1_000))
            }
            return .answer(writer.bytes)
        }
    }
}

extension DatabaseChangesEndpoint {
    static let takes = ObjectShape(
        "DatabaseChangesRequest", [.optional("syncToken", .text), .resultsLimit, .waitSeconds])
    static let answers = DatabaseFeedAnswer.shape("DatabaseChanges", tokenKey: "syncToken")
}

extension ZonesChangesEndpoint {
    static let takes = ObjectShape(
        "ZonesChangesRequest", [.optional("metaSyncToken", .text), .resultsLimit])
    static let answers = DatabaseFeedAnswer.shape("ZonesChanges", tokenKey: "metaSyncToken")
}

extension DatabaseFeedAnswer {
    fileprivate static func shape(_ name: String, tokenKey: String) -> ObjectShape {
        ObjectShape(
            name,
            [
                .required("zones", .list(.object(AnswerShapes.zone))),
                .required(tokenKey, .text), .required("moreComing", .flag),
            ])
    }
}
