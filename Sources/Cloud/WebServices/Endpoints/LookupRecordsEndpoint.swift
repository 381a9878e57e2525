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
            var bytesRead = 0
            writer.raw("{\"records\":[")
            for (index, item) in items.enumerated() {
                if index > 0 { writer.raw(",") }
                if bytesRead >= context.limits.pageBytesMax {
                    FaultResponse.append(record: item.name, tooLong, to: &writer)
                    continue
                }
                do {
                    bytesRead += try lookup.append(item, to: &writer)
                } catch let fault as Fault {
                    FaultResponse.append(record: item.name, fault, to: &writer)
                }
                if context.loop != nil, bytesRead > RequestContext.loopBytesMax {
                    throw NeedsWorker()
                }
            }
            writer.raw("]}")
            return writer.bytes
        }
    }

    /// The fault of an item for which the answer has no room; in a further request it comes first.
    private static let tooLong = Fault.tryAgainLater(
        "the answer is full (limits.pageBytesMax); look this record up with fewer others",
        seconds: 0)

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
