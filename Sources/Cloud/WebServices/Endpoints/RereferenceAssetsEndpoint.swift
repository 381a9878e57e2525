import CloudDatabase
import CloudModel
import JSON
import RecordDecoding

/// `assets/rereference` (web-services.md §4.14): assets of stored records, each complete enough to be
/// saved in another.
enum RereferenceAssetsEndpoint {
    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let body = try context.body()
        let database = try context.database()
        let elements = try body.assetItems("assets", context.limits).elements
        let zone = try context.zones.zone(of: body)
        try database.check(zone)
        if let target = try body.object("targetZoneID") {
            // Where they will be saved is known only then; but it must be a zone of this database.
            _ = try context.zones.zone(target)
        }
        let sources = try elements.map { element throws(Fault) in
            let object = try RequestObject(element, key: "assets")
            let record = try object.requiredString("recordName")
            let field = try object.requiredString("fieldName")
            return RereferenceAssets.Source(record: record, field: field)
        }
        context.exchange.keep(RequestWork(items: sources.count, in: zone))
        let tokens = context.store.assetTokens
        try RereferenceAssets(sources, in: zone, of: database).run { result in
            completion(
                result.map { receipts in
                    { _ in encode(receipts, tokens, database.assetLinks(in: zone)) }
                })
        }
        return .handedOn
    }

    private static func encode(
        _ receipts: [AssetReceipt], _ tokens: AssetTokens, _ links: AssetLinks?
    ) -> [UInt8] {
        var writer = JSONWriter(reserving: 32 + receipts.count * 480)
        writer.raw("{\"assets\":[")
        for (index, receipt) in receipts.enumerated() {
            if index > 0 { writer.raw(",") }
            AssetValueJSON.append(receipt, tokens, links: links, to: &writer)
        }
        writer.raw("]}")
        return writer.bytes
    }
}

extension RereferenceAssetsEndpoint {
    static let takes = ObjectShape(
        "RereferenceAssetsRequest",
        [
            .assetItems(
                "assets",
                .object(
                    ObjectShape(
                        "AssetOfRecord",
                        [.required("recordName", .recordName), .required("fieldName", .fieldName)]))
            ), ZoneReader.key, .optional("targetZoneID", .object(ZoneReader.shape)),
        ])

    static let answers = ObjectShape(
        "RereferencedAssets", [.required("assets", .list(.object(AnswerShapes.asset)))])
}
