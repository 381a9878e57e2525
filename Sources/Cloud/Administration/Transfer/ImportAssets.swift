import AssetStorage
import CloudDatabase
import CloudModel
import JSON
import Storage

/// Brings the files of imported records into the place of assets, and records to name what came of it.
final class ImportAssets {
    private let files: any TransferFiles
    private let environment: ContainerEnvironment
    private let data: any ServerData
    /// How many files were brought.
    private(set) var count = 0

    init(_ files: any TransferFiles, _ environment: ContainerEnvironment, _ data: any ServerData) {
        self.files = files
        self.environment = environment
        self.data = data
    }

    /// Whether a record may have assets; a text with the same bytes is a false alarm.
    static func mayBeIn(_ record: ImportedRecord) -> Bool {
        record.json["fields"]?.members.contains { isAsset($0.value) } ?? false
    }

    private static func isAsset(_ field: JSONValue) -> Bool {
        if let type = field["type"] {
            return type.stringEquals("ASSETID") || type.stringEquals("ASSETID_LIST")
        }
        return field["value"]?["fileChecksum"] != nil
    }

    /// The record with receipts for its files, which are uploaded.
    ///
    /// - Throws: `Fault` NOT_FOUND for a file that is missing or another than its checksum says.
    func bring(
        _ record: ImportedRecord, into opened: OperatedDatabase.Opened
    ) throws -> JSONValue {
        try Self.rewritten(record) { field, writer in
            try Self.append(field, to: &writer) { value, writer in
                guard let checksum = value["fileChecksum"]?.string else {
                    throw Fault.badRequest("an asset without fileChecksum")
                }
                // What comes from another service lies under the checksum that it has there.
                let file = value["sourceChecksum"]?.string ?? checksum
                let receipt = try upload(checksum, from: file, for: opened)
                writer.raw("{\"fileChecksum\":")
                writer.string(ReceiptText.checksum(of: receipt.content.digest))
                writer.member("receipt", ReceiptText.encode(receipt))
                writer.raw("}")
            }
            return true
        }
    }

    /// The record without its fields of assets.
    static func without(_ record: ImportedRecord) throws -> JSONValue {
        try rewritten(record) { _, _ in false }
    }

    private func upload(
        _ checksum: String, from name: String, for opened: OperatedDatabase.Opened
    ) throws -> AssetReceipt {
        let file = TransferFile.asset(checksum: name)
        guard let size = try files.size(of: file) else {
            throw Fault(.notFound, "the file of the asset '\(Fault.shown(checksum))' is missing")
        }
        guard let access = opened.database.assets, let user = opened.database.caller.userRecordName
        else { throw Fault(.accessDenied, "nobody uploads here") }
        let store = data.assetStore(of: environment)
        let upload = try store.storage.begin(expectedBytes: Int(size))
        do {
            try files.readAll(file) { piece in
                try piece.withUnsafeBytes { try upload.append($0) }
            }
        } catch {
            upload.discard()
            throw error
        }
        let pending = Pending<AssetReceipt>()
        ReceiveAsset(
            opened.database.storage, assetStore: store, tokens: access.tokens, random: data.random,
            requireUploader: {}
        ).run(upload, identity: access.tokens.identity(opened.database.scope, user)) {
            pending.end($0)
        }
        let receipt = try pending.wait()
        guard ReceiptText.checksum(of: receipt.content.digest) == checksum else {
            throw Fault(
                .notFound, "the file of the asset '\(Fault.shown(checksum))' is another or damaged")
        }
        count += 1
        return receipt
    }

    // MARK: - JSON

    /// The record with other fields of assets.
    ///
    /// - Parameter change: appends a field; false leaves it out.
    private static func rewritten(
        _ record: ImportedRecord, _ change: (JSONValue, inout JSONWriter) throws -> Bool
    ) throws -> JSONValue {
        var writer = JSONWriter(reserving: 1_024)
        writer.raw("{")
        var isFirst = true
        for (key, value) in record.json.members {
            writer.separate(&isFirst)
            key.withRawBytes { writer.raw($0) }
            writer.raw(":")
            guard key.stringEquals("fields"), value.kind == .object else {
                value.withRawBytes { writer.raw($0) }
                continue
            }
            writer.raw("{")
            var isFirstField = true
            for (name, field) in value.members {
                var piece = JSONWriter()
                if isAsset(field) {
                    guard try change(field, &piece) else { continue }
                } else {
                    field.withRawBytes { piece.raw($0) }
                }
                writer.separate(&isFirstField)
                name.withRawBytes { writer.raw($0) }
                writer.raw(":")
                writer.raw(piece.bytes)
            }
            writer.raw("}")
        }
        writer.raw("}")
        return try JSONDocument(parsing: writer.bytes).root
    }

    /// Appends a field of one asset, or of a list of them.
    private static func append(
        _ field: JSONValue, to writer: inout JSONWriter,
        _ asset: (JSONValue, inout JSONWriter) throws -> Void
    ) throws {
        writer.raw("{\"value\":")
        if let value = field["value"], value.kind == .array {
            writer.raw("[")
            var isFirst = true
            for element in value.elements {
                writer.separate(&isFirst)
                try asset(element, &writer)
            }
            writer.raw("],\"type\":\"ASSETID_LIST\"}")
        } else if let value = field["value"], !value.isNull {
            try asset(value, &writer)
            writer.raw(",\"type\":\"ASSETID\"}")
        } else {
            writer.raw("null}")
        }
    }
}
