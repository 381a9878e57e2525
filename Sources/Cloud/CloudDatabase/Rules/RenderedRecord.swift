import CloudModel
import JSON
import Storage

extension RecordRendering {
    /// Appends a stored body in the form that this request wants.
    ///
    /// A body without assets that is wanted whole is copied as it is. Any other body is walked, not decoded.
    ///
    /// - Parameters:
    ///   - fields: where in the body the object of its fields is; nil where nobody knows.
    ///   - flags: the version's flags; nil when only the body is known, which is then searched for assets.
    ///   - hidingParent: whether to leave out the record's own `parent`.
    ///   - assets: makes the links of assets; without it they have none.
    package func append(
        _ body: UnsafeRawBufferPointer, fields: Range<Int>? = nil, flags: VersionFlags? = nil,
        hidingParent: Bool = false, assets: AssetLinks?, to writer: inout JSONWriter
    ) throws {
        let hasAssets =
            !keepsAssetsAsStored
            && (flags?.contains(.hasAssets) ?? Self.mayHaveAssets(body))
        guard !isWhole || hidingParent || hasAssets else { return writer.raw(body) }
        let part = { (range: Range<Int>) in UnsafeRawBufferPointer(rebasing: body[range]) }
        if let fields, !hidingParent {
            writer.raw(part(0..<fields.lowerBound))
            try append(fields: part(fields), hasAssets, assets, to: &writer)
            return writer.raw(part(fields.upperBound..<body.count))
        }
        var walk = try JSONMemberWalk(body, knowing: fields)
        writer.raw("{")
        var isFirst = true
        while let member = try walk.next() {
            if hidingParent, walk.holds(member, "parent") { continue }
            if !isFirst { writer.raw(",") }
            isFirst = false
            if walk.holds(member, "fields") {
                writer.raw("\"fields\":")
                try append(fields: part(member.value), hasAssets, assets, to: &writer)
            } else {
                writer.raw(part(member.key.lowerBound - 1..<member.value.upperBound))
            }
        }
        writer.raw("}")
    }

    /// Whether the tag of an asset's type occurs anywhere in a body; a text with the same bytes is a false
    /// alarm.
    private static func mayHaveAssets(_ body: UnsafeRawBufferPointer) -> Bool {
        // Looks at every seventh byte (Horspool's search), so most bodies are searched quickly.
        var end = assetTag.count - 1
        while end < body.count {
            let last = body[end]
            if last == assetTag[assetTag.count - 1],
                body[(end - assetTag.count + 1)...end].elementsEqual(assetTag)
            {
                return true
            }
            end += assetTagSteps[Int(last)]
        }
        return false
    }

    private static let assetTag = Array("ASSETID".utf8)
    /// How far the search may jump from a byte.
    private static let assetTagSteps: [Int] = {
        var steps = [Int](repeating: assetTag.count, count: 256)
        for (index, byte) in assetTag.dropLast().enumerated() {
            steps[Int(byte)] = assetTag.count - 1 - index
        }
        return steps
    }()

    private func append(
        fields: UnsafeRawBufferPointer, _ hasAssets: Bool, _ links: AssetLinks?,
        to writer: inout JSONWriter
    ) throws {
        let part = { (range: Range<Int>) in UnsafeRawBufferPointer(rebasing: fields[range]) }
        var walk = try JSONMemberWalk(fields)
        writer.raw("{")
        var isFirst = true
        while let member = try walk.next() {
            if let desiredKeys,
                !desiredKeys.contains(String(decoding: part(member.key), as: UTF8.self))
            {
                continue
            }
            if !isFirst { writer.raw(",") }
            isFirst = false
            guard numbersAsStrings || hasAssets else {
                writer.raw(part(member.key.lowerBound - 1..<member.value.upperBound))
                continue
            }
            writer.raw(part(member.key.lowerBound - 1..<member.value.lowerBound))
            let field = part(member.value)
            if numbersAsStrings, try Self.hasType(field, of: Self.numericTypes) {
                append(numeric: try JSONDocument(copying: field).root, to: &writer)
            } else if hasAssets, try Self.hasType(field, of: RenderedAsset.types) {
                RenderedAsset.append(
                    field: try JSONDocument(copying: field).root, links, to: &writer)
            } else {
                writer.raw(field)
            }
        }
        writer.raw("}")
    }

    private static let numericTypes: [StaticString] = [
        "INT64", "DOUBLE", "INT64_LIST", "DOUBLE_LIST",
    ]

    /// Whether a stored field has one of some types.
    private static func hasType(
        _ field: UnsafeRawBufferPointer, of types: [StaticString]
    ) throws -> Bool {
        var walk = try JSONMemberWalk(field)
        guard let type = try walk.value(of: "type") else { return false }
        return types.contains { walk.isString($0, at: type) }
    }

    private func append(numeric field: JSONValue, to writer: inout JSONWriter) {
        writer.raw("{")
        var isFirst = true
        for (key, value) in field.members {
            if !isFirst { writer.raw(",") }
            isFirst = false
            key.withRawBytes { writer.raw($0) }
            writer.raw(":")
            if key.stringEquals("value") {
                quote(value, to: &writer)
            } else {
                value.withRawBytes { writer.raw($0) }
            }
        }
        writer.raw("}")
    }

    private func quote(_ value: JSONValue, to writer: inout JSONWriter) {
        guard value.kind == .array else {
            writer.raw("\"")
            value.withRawBytes { writer.raw($0) }
            return writer.raw("\"")
        }
        writer.raw("[")
        var isFirst = true
        for element in value.elements {
            if !isFirst { writer.raw(",") }
            isFirst = false
            quote(element, to: &writer)
        }
        writer.raw("]")
    }
}
