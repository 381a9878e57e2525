import CloudDatabase
import CloudModel
import JSON
import RecordDecoding

/// `assets/upload` (web-services.md §4.13): an address for each token, in order.
enum AssetUploadsEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        let body = try context.body()
        let database = try context.database()
        let zone = try context.zones.zone(of: body)
        let request = try RequestAssetUploads(in: zone, of: database)
        let (tokens, count) = try body.assetItems("tokens", context.limits)
        context.exchange.keep(RequestWork(items: count, in: zone))
        try context.read { try request.check(in: $0) }
        var writer = JSONWriter(reserving: 32 + count * 320)
        writer.raw("{\"tokens\":[")
        for (index, element) in tokens.enumerated() {
            if index > 0 { writer.raw(",") }
            let token = try RequestObject(element, key: "tokens")
            let (field, record) = try names(token)
            writer.raw("{\"recordName\":")
            writer.string((record ?? RecordNames.random(context.random)).text)
            writer.member("fieldName", field.text)
            writer.member("url", try request.uploadURL(random: context.random))
            writer.raw("}")
        }
        writer.raw("]}")
        return writer.bytes
    }

    private static func names(
        _ token: RequestObject
    ) throws(Fault) -> (field: FieldName, record: RecordName?) {
        let fieldText = try token.requiredString("fieldName")
        guard let field = FieldName(fieldText) else {
            throw .badRequest(
                "fieldName '\(Fault.shown(fieldText))': expected a letter, then letters, digits and _, "
                    + "at most 255")
        }
        if let type = try token.string("recordType"), RecordTypeName(type) == nil {
            throw .badRequest(
                "recordType '\(Fault.shown(type))': expected a letter, then letters, digits and _, "
                    + "at most 255")
        }
        guard let recordText = try token.string("recordName") else { return (field, nil) }
        guard let record = RecordName(recordText), !record.isReserved else {
            throw .badRequest(
                "recordName: expected 1 to \(RecordName.bytesMax) printable ASCII characters, "
                    + "not starting with _")
        }
        return (field, record)
    }
}

extension AssetUploadsEndpoint {
    static let takes = ObjectShape(
        "AssetUploadsRequest",
        [
            .assetItems(
                "tokens",
                .object(
                    ObjectShape(
                        "AssetUpload",
                        [
                            .required("fieldName", .fieldName),
                            .optional("recordType", .recordType()),
                            .optional("recordName", .recordName),
                        ]))), ZoneReader.key,
        ])

    static let answers = ObjectShape(
        "AssetUploadsAnswer",
        [
            .required(
                "tokens",
                .list(
                    .object(
                        ObjectShape(
                            "AssetUploadURL",
                            [
                                .required("recordName", .recordName),
                                .required("fieldName", .fieldName), .required("url", .text),
                            ]))))
        ])
}
