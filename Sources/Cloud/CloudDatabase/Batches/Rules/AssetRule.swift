import CloudModel
import JSON
import Storage

/// The rule for assets: a new value needs a receipt, or its field already holds it (rulings.md 33).
struct AssetRule {
    private let context: BatchContext

    init(_ context: BatchContext) { self.context = context }

    /// Checks the assets that were sent; completes those that the record holds already.
    ///
    /// - Throws: `Fault` BAD_REQUEST for the record.
    func admit(
        _ sent: EncodedFields, over previousBody: RecordBody.Previous?
    ) throws -> EncodedFields {
        guard sent.fields.contains(where: { !$0.assets.isEmpty }) else { return sent }
        var made = EncodedFields()
        for field in sent.fields {
            guard field.type != nil else {
                made.fields.append(field)
                continue
            }
            var member = sent.bytes[field.range]
            if field.assets.contains(where: { $0.receipt == nil }) {
                member = try held(field, previousBody)[...]
            }
            for case let receipt? in field.assets.map(\.receipt) {
                try checkReceipt(receipt, of: field.name)
            }
            if !made.bytes.isEmpty { made.bytes.append(UInt8(ascii: ",")) }
            let start = made.bytes.count
            made.bytes.append(contentsOf: member)
            made.fields.append(
                EncodedFields.Field(
                    name: field.name, type: field.type, range: start..<made.bytes.count,
                    references: field.references, assets: field.assets))
        }
        return made
    }

    /// The files that the new version holds.
    func files(
        of save: PlannedSave, _ sent: EncodedFields, over previous: CurrentRecord?
    ) throws -> Set<AssetContent> {
        let held = previous?.flags.contains(.hasAssets) ?? false
        guard held || sent.fields.contains(where: { !$0.assets.isEmpty }) else { return [] }
        return Set(try Self.assets(of: save.fields).map(\.content))
    }

    /// How many bytes the files of the previous version take; they go with that version.
    func heldBytes(of previous: CurrentRecord?) throws -> Int64 {
        guard let previous, previous.flags.contains(.hasAssets), let record = previous.head?.record
        else { return 0 }
        return Int64(try context.assetBytes(of: record))
    }

    private func checkReceipt(_ receipt: AssetReceipt, of field: FieldName) throws {
        guard let user = context.database.caller.userRecordName,
            let access = context.database.assets,
            let stored = try context.receipt(receipt.id),
            stored.content == receipt.content, stored.expires > context.basis.now,
            stored.identity == access.tokens.identity(context.database.scope, user)
        else { throw Self.unknownReceipt(field) }
    }

    /// The stored member of a field in which a request names at least one asset by checksum alone.
    private func held(
        _ field: EncodedFields.Field, _ previousBody: RecordBody.Previous?
    ) throws -> [UInt8] {
        var known: [String: AssetContent] = [:]
        if let member = previousBody?.body.field(field.name.text) {
            for value in StoredAsset.values(of: member) { known[value.checksum] = value.content }
        }
        var writer = JSONWriter()
        writer.string(field.name.text)
        let isList = field.type?.isList ?? false
        writer.raw(isList ? ":{\"value\":[" : ":{\"value\":")
        for (index, asset) in field.assets.enumerated() {
            if index > 0 { writer.raw(",") }
            guard let content = asset.receipt?.content ?? known[asset.checksum] else {
                throw Self.unknownReceipt(field.name)
            }
            StoredAsset.append(content, checksum: asset.checksum, to: &writer)
        }
        writer.raw(isList ? "],\"type\":\"ASSETID_LIST\"}" : ",\"type\":\"ASSETID\"}")
        return writer.bytes
    }

    private static func unknownReceipt(_ field: FieldName) -> Fault {
        .badRequest(
            "field '\(field.text)': the asset's receipt is unknown or has expired; upload it again")
    }

    private static func assets(
        of members: [UInt8]
    ) throws -> [(content: AssetContent, checksum: String)] {
        let text = [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")]
        return try JSONDocument(parsing: text).root.members.flatMap {
            StoredAsset.values(of: $0.value)
        }
    }
}
