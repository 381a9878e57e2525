import CloudModel
import JSON

extension RecordRendering {
    /// Appends a stored body as this request wants to see it.
    ///
    /// A body that is wanted whole is copied as it lies; otherwise it is walked, not decoded.
    ///
    /// - Parameter hidingParent: whether the record's own `parent` is left out.
    package func append(
        _ body: UnsafeRawBufferPointer, hidingParent: Bool = false, to writer: inout JSONWriter
    ) throws {
        guard !isWhole || hidingParent else { return writer.raw(body) }
        let root = try JSONDocument(copying: body).root
        writer.raw("{")
        var isFirst = true
        for (key, value) in root.members {
            if hidingParent, key.stringEquals("parent") { continue }
            if !isFirst { writer.raw(",") }
            isFirst = false
            key.withRawBytes { writer.raw($0) }
            writer.raw(":")
            if key.stringEquals("fields") {
                append(fields: value, to: &writer)
            } else {
                value.withRawBytes { writer.raw($0) }
            }
        }
        writer.raw("}")
    }

    private func append(fields: JSONValue, to writer: inout JSONWriter) {
        writer.raw("{")
        var isFirst = true
        for (key, value) in fields.members {
            if let desiredKeys, !desiredKeys.contains(key.string ?? "") { continue }
            if !isFirst { writer.raw(",") }
            isFirst = false
            key.withRawBytes { writer.raw($0) }
            writer.raw(":")
            if numbersAsStrings, Self.isNumeric(value["type"]) {
                append(numeric: value, to: &writer)
            } else {
                value.withRawBytes { writer.raw($0) }
            }
        }
        writer.raw("}")
    }

    private static func isNumeric(_ type: JSONValue?) -> Bool {
        guard let type else { return false }
        return type.stringEquals("INT64") || type.stringEquals("DOUBLE")
            || type.stringEquals("INT64_LIST") || type.stringEquals("DOUBLE_LIST")
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
