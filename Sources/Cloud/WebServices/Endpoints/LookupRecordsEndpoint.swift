import CloudDatabase
import CloudModel
import JSON

/// `records/lookup` (web-services.md §4.3): each name in its place, duplicates too (rulings.md 20).
enum LookupRecordsEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        let body = try context.body()
        let zone = try context.zones.zone(of: body)
        let database = try context.database()
        try database.check(zone)
        let items = try items(body, context)
        try context.makeUserRecords(named: items.lazy.map(\.name), in: zone)
        return try context.store.storage.read(by: context.reader) { snapshot in
            let lookup = try LookupRecords(in: zone, of: database, snapshot: snapshot)
            var writer = JSONWriter(reserving: 64 + items.count * 1_000)
            writer.raw("{\"records\":[")
            try lookup.append(items, to: &writer, bytesMax: context.limits.pageBytesMax) { bytes in
                if context.loop != nil, bytes > RequestContext.loopBytesMax { throw NeedsWorker() }
            } failed: {
                FaultResponse.append(record: $0.name, $1, to: &$2)
            }
            writer.raw("]}")
            return writer.bytes
        }
    }

    private static func items(
        _ body: RequestObject, _ context: RequestContext
    ) throws -> [LookupRecords.Item] {
        let elements = try body.items("records", context)
        let rendering = try body.rendering()
        var items: [LookupRecords.Item] = []
        for element in elements {
            let object = try RequestObject(element, key: "records")
            guard let name = try object.string("recordName") else {
                throw RequestObject.missing("recordName")
            }
            items.append(
                LookupRecords.Item(name: name, rendering: try object.rendering(over: rendering)))
        }
        return items
    }
}
