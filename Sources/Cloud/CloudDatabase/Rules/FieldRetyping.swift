import CloudModel
import JSON

/// Rewrites fields whose type the schema knows better than the sender (rulings.md 14).
///
/// These are empty lists, and whole numbers in a field of DOUBLE.
struct FieldRetyping {
    private let known: Schema.RecordType

    init(_ known: Schema.RecordType) { self.known = known }

    /// The same fields, each with the type that the schema has.
    func retyped(_ fields: EncodedFields) throws(Fault) -> EncodedFields {
        var made = EncodedFields()
        for field in fields.fields {
            guard let type = field.type else {
                made.fields.append(field)
                continue
            }
            if !made.bytes.isEmpty { made.bytes.append(UInt8(ascii: ",")) }
            let start = made.bytes.count
            var final = type
            if let expected = known.fields[field.name]?.type, expected != type {
                final = expected
                made.bytes += try member(
                    field.name, final, value: fields.bytes[field.range], given: type)
            } else {
                made.bytes += fields.bytes[field.range]
            }
            made.fields.append(
                EncodedFields.Field(
                    name: field.name, type: final, range: start..<made.bytes.count,
                    references: field.references, assets: field.assets))
        }
        return made
    }

    private func member(
        _ name: FieldName, _ type: FieldType, value member: ArraySlice<UInt8>, given: FieldType
    ) throws(Fault) -> [UInt8] {
        var writer = JSONWriter(reserving: member.count + 32)
        writer.string(name.text)
        writer.raw(":{\"value\":")
        if given.element == .unknown {
            writer.raw("[]")
        } else {
            try appendDoubles(of: member, to: &writer)
        }
        writer.raw(",\"type\":\"")
        writer.raw(ascii: FieldType(type.element, isList: type.isList).name)
        writer.raw(type.isEncrypted ? "\",\"isEncrypted\":true}" : "\"}")
        return writer.bytes
    }

    /// Appends the whole numbers of a member as DOUBLE has them.
    private func appendDoubles(
        of member: ArraySlice<UInt8>, to writer: inout JSONWriter
    ) throws(Fault) {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: [UInt8(ascii: "{")] + member + [UInt8(ascii: "}")])
        } catch {
            throw Fault(.internalError, "internal error")
        }
        for (_, field) in document.root.members {
            guard let value = field["value"] else { continue }
            guard value.kind == .array else { return writer.double(value.double ?? 0) }
            writer.raw("[")
            for (index, element) in value.elements.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.double(element.double ?? 0)
            }
            writer.raw("]")
        }
    }
}
