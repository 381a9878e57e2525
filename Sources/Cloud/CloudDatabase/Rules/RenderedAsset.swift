import CloudModel
import JSON

/// How clients see assets (rulings.md 32): checksum, length, and a link made for the answer.
enum RenderedAsset {
    /// The types of fields that hold assets.
    static let types: [StaticString] = ["ASSETID", "ASSETID_LIST"]

    /// A stored body without the parts of assets that only the server needs (rulings.md 11).
    static func withoutLinks(_ body: [UInt8]) throws -> [UInt8] {
        var writer = JSONWriter(reserving: body.count)
        try body.withUnsafeBytes {
            try RecordRendering.whole.append($0, assets: nil, to: &writer)
        }
        return writer.bytes
    }

    /// Appends a field of a stored body.
    static func append(field: JSONValue, _ links: AssetLinks?, to writer: inout JSONWriter) {
        writer.raw("{")
        var isFirst = true
        for (key, value) in field.members {
            writer.separate(&isFirst)
            key.withRawBytes { writer.raw($0) }
            writer.raw(":")
            if !key.stringEquals("value") {
                value.withRawBytes { writer.raw($0) }
            } else if value.kind == .array {
                writer.raw("[")
                for (index, element) in value.elements.enumerated() {
                    if index > 0 { writer.raw(",") }
                    append(element, links, to: &writer)
                }
                writer.raw("]")
            } else {
                append(value, links, to: &writer)
            }
        }
        writer.raw("}")
    }

    private static func append(
        _ value: JSONValue, _ links: AssetLinks?, to writer: inout JSONWriter
    ) {
        guard let (content, checksum) = StoredAsset.read(value) else {
            return value.withRawBytes { writer.raw($0) }
        }
        writer.raw("{\"fileChecksum\":")
        writer.string(checksum)
        writer.raw(",\"size\":")
        writer.integer(Int64(content.size))
        if let links {
            writer.raw(",\"downloadURL\":\"")
            // Neither a URL nor the placeholder in it has a character that JSON escapes.
            writer.bytes.append(contentsOf: links.text(of: content.digest))
            writer.raw("\"")
        }
        writer.raw("}")
    }
}
