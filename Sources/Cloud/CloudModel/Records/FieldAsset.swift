import JSON

/// What an upload handed out, as a request shows it again.
package struct AssetReceipt: Hashable, Sendable {
    package static let idBytes = 16

    package let id: [UInt8]
    package let content: AssetContent

    package init(id: [UInt8], content: AssetContent) {
        self.id = id
        self.content = content
    }
}

/// One asset of a field as a request has it.
package struct FieldAsset: Hashable, Sendable {
    /// As clients know the contents.
    package let checksum: String
    /// Nil for an asset that the field holds already.
    package let receipt: AssetReceipt?

    package init(checksum: String, receipt: AssetReceipt?) {
        self.checksum = checksum
        self.receipt = receipt
    }
}

/// The form in which a stored body holds an asset.
package enum StoredAsset {
    /// Appends the value; its digest is for the server alone, and no client gets to see it so.
    package static func append(
        _ content: AssetContent, checksum: String, to writer: inout JSONWriter
    ) {
        writer.raw("{\"fileChecksum\":")
        writer.string(checksum)
        writer.raw(",\"size\":")
        writer.integer(Int64(content.size))
        writer.raw(",\"digest\":\"")
        writer.raw(content.digest.hexadecimal.utf8)
        writer.raw("\"}")
    }

    /// Nil for a value that is no stored asset.
    package static func read(_ value: JSONValue) -> (content: AssetContent, checksum: String)? {
        guard let checksum = value["fileChecksum"]?.string,
            let size = value["size"]?.int64.flatMap({ Int(exactly: $0) }),
            let digest = value["digest"]?.string.flatMap({ AssetDigest(hexadecimal: $0) })
        else { return nil }
        return (AssetContent(digest: digest, size: size), checksum)
    }

    /// The assets of one field; none for a field of another type.
    package static func values(
        of field: JSONValue
    ) -> [(content: AssetContent, checksum: String)] {
        guard let tag = field["type"], let value = field["value"] else { return [] }
        if tag.stringEquals("ASSETID") { return read(value).map { [$0] } ?? [] }
        guard tag.stringEquals("ASSETID_LIST") else { return [] }
        return value.elements.compactMap { read($0) }
    }
}

extension JSONWriter {
    fileprivate mutating func raw(_ text: String.UTF8View) { bytes.append(contentsOf: text) }
}
