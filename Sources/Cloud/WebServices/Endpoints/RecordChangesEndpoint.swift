import CloudDatabase
import JSON
import RecordDecoding

/// `records/changes` (web-services.md §4.4): the deprecated form of `changes/zone` for one zone.
enum RecordChangesEndpoint {
    static func answer(_ context: RequestContext) throws -> NextStep {
        let database = try context.database()
        let body = try context.body()
        let keys = try ZoneChangesKeys(body, context.limits)
        let request = keys.request(for: try context.zones.zone(of: body))
        return try context.read(isOfFeed: true) { snapshot in
            let feed = try FetchZoneChanges(
                database, key: context.store.tokenKey, snapshot: snapshot)
            var writer = JSONWriter(reserving: 16_384)
            var budget = context.budget
            writer.raw("{\"records\":[")
            let page = try feed.append(request, to: &writer, budget: &budget)
            writer.raw("],\"syncToken\":\"")
            writer.bytes.append(contentsOf: page.syncToken.utf8)
            writer.raw(page.moreComing ? "\",\"moreComing\":true" : "\",\"moreComing\":false")
            writer.raw(request.newestFirst ? ",\"reverse\":true}" : ",\"reverse\":false}")
            var pages = HeldPages(waitSeconds: nil)
            pages.work.items = 1
            pages.note(page, of: request.zone, hasNews: true)
            context.exchange.keep(pages.work)
            return pages.admitted(writer.bytes, context.limits)
        }
    }
}

extension RecordChangesEndpoint {
    static let takes = ObjectShape("RecordChangesRequest", [ZoneReader.key] + ZoneChangesKeys.keys)
    static let answers = ObjectShape(
        "RecordChanges", AnswerShapes.pageKeys + [.required("reverse", .flag)])
}
