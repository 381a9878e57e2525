import CloudDatabase
import CloudModel
import JSON
import RecordDecoding

/// `records/lookup` (web-services.md §4.3): each name in its place, duplicates too (rulings.md 20).
enum LookupRecordsEndpoint {
    static func answer(_ context: RequestContext) throws -> NextStep {
        let body = try context.body()
        let zone = try context.zones.zone(of: body)
        let database = try context.database()
        try database.check(zone)
        let (elements, count) = try body.countedItems("records", context.limits)
        guard !context.holdsUp(items: count) else { return .again(on: .short) }
        let items = try items(elements, body)
        // What is asked of users, and of what others share, is not known ahead.
        guard
            context.mayWait
                || database.scope != .shared
                    && !context.mayName(users: items.lazy.map(\.name), in: zone)
        else { return .again(on: .short) }
        if let first = try context.makeUserRecords(named: items.lazy.map(\.name), in: zone) {
            return first
        }
        return try context.answerTogether(
            database, LookupRecords.needs(items, in: zone, of: database)
        ) { snapshot in
            let lookup = try LookupRecords(in: zone, of: database, snapshot: snapshot)
            var work = RequestWork()
            var writer = JSONWriter(reserving: 64 + items.count * 1_000)
            writer.raw("{\"records\":[")
            let isWhole = try lookup.append(
                items, to: &writer, bytesMax: context.limits.pageBytesMax
            ) { bytes in
                context.loop == nil || bytes <= RequestContext.loopBytesMax
            } failed: {
                work.note($1, record: $0.name)
                FaultResponse.append(record: $0.name, $1, to: &$2)
            }
            guard isWhole else { return .again(on: .short) }
            work.zone = ZoneProgress(zone)
            work.items = items.count
            work.records = items.count - work.failures.reduce(0) { $0 + $1.count }
            context.exchange.keep(work)
            writer.raw("]}")
            return .answer(writer.bytes)
        }
    }

    private static func items(
        _ elements: JSONElements, _ body: RequestObject
    ) throws -> [LookupRecords.Item] {
        let rendering = try body.rendering()
        var items: [LookupRecords.Item] = []
        for element in elements {
            let object = try RequestObject(element, key: "records")
            let name = try object.requiredString("recordName")
            items.append(
                LookupRecords.Item(name: name, rendering: try object.rendering(over: rendering)))
        }
        return items
    }
}

extension LookupRecordsEndpoint {
    static let takes = ObjectShape(
        "LookupRecordsRequest",
        [
            .items(
                "records",
                .object(
                    ObjectShape(
                        "RecordToLookUp",
                        [.required("recordName", .recordName)] + ObjectKey.rendering))),
            ZoneReader.key,
        ] + ObjectKey.rendering)
}
