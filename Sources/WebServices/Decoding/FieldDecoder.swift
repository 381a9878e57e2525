import CloudModel
import Cryptography
import JSON

/// Turns the `fields` of a request into the form in which they are stored (rulings.md 14).
///
/// Values are checked against their own tag, or the tag is inferred from their JSON; whether the schema
/// agrees is decided later. Throws BAD_REQUEST for the item, except that a field which is no object is
/// refused with the whole request.
struct FieldDecoder {
    /// A fault of the whole request found inside a field.
    struct RequestFault: Error {
        let fault: Fault
    }

    private let zones: ZoneReader
    private var writer: JSONWriter
    private var fields: [EncodedFields.Field] = []
    private var references: [FieldReference] = []

    static func decode(_ object: RequestObject?, zones: ZoneReader) throws -> EncodedFields {
        guard let object else { return EncodedFields() }
        var decoder = FieldDecoder(zones: zones, capacity: object.value.count * 64)
        for (key, value) in object.value.members {
            try decoder.append(key.string ?? "", value)
        }
        return EncodedFields(bytes: decoder.writer.bytes, fields: decoder.fields)
    }

    private init(zones: ZoneReader, capacity: Int) {
        self.zones = zones
        writer = JSONWriter(reserving: capacity)
        fields.reserveCapacity(8)
    }

    private mutating func append(_ key: String, _ field: JSONValue) throws {
        guard let name = FieldName(key) else {
            throw Fault.badRequest(
                "field '\(key)': a field's name is a letter, then letters, digits and _, "
                    + "at most 255")
        }
        guard field.kind == .object || field.isNull else {
            throw RequestFault(
                fault: RequestObject.mismatch(
                    field, "fields", "an object with value and type for '\(key)'"))
        }
        guard let value = field["value"], !value.isNull else {
            fields.append(EncodedFields.Field(name: name, type: nil, range: 0..<0, references: []))
            return
        }
        let isEncrypted = try Self.isEncrypted(field["isEncrypted"])
        let type = try type(of: value, tag: field["type"], isEncrypted: isEncrypted, name)
        if !writer.bytes.isEmpty { writer.raw(",") }
        let start = writer.bytes.count
        references.removeAll(keepingCapacity: true)
        writer.raw("\"")
        writer.bytes.append(contentsOf: name.text.utf8)
        writer.raw("\":{\"value\":")
        try append(value, as: type, name)
        writer.raw(",\"type\":\"")
        writer.raw(type.element.tag)
        writer.raw(type.isList ? "_LIST\"" : "\"")
        writer.raw(type.isEncrypted ? ",\"isEncrypted\":true}" : "}")
        fields.append(
            EncodedFields.Field(
                name: name, type: type, range: start..<writer.bytes.count, references: references))
    }

    private mutating func append(
        _ value: JSONValue, as type: FieldType, _ name: FieldName
    ) throws {
        var values = FieldValueWriter(zones: zones, field: name)
        defer { references = values.references }
        guard type.isList else { return try values.append(value, as: type.element, to: &writer) }
        guard value.kind == .array else { throw values.mismatch("an array for \(type.name)") }
        writer.raw("[")
        var isFirst = true
        for element in value.elements {
            if !isFirst { writer.raw(",") }
            isFirst = false
            try values.append(element, as: type.element, to: &writer)
        }
        writer.raw("]")
    }

    // MARK: - Types

    private static func isEncrypted(_ flag: JSONValue?) throws -> Bool {
        guard let flag, !flag.isNull else { return false }
        guard let isEncrypted = flag.bool else {
            throw RequestFault(
                fault: RequestObject.mismatch(flag, "isEncrypted", "true or false"))
        }
        return isEncrypted
    }

    private func type(
        of value: JSONValue, tag: JSONValue?, isEncrypted: Bool, _ name: FieldName
    ) throws -> FieldType {
        guard let tag, !tag.isNull else {
            guard !isEncrypted else {
                throw Fault.badRequest(
                    "field '\(name.text)': an encrypted field needs its type: BYTES, STRING, "
                        + "DOUBLE, INT64, LOCATION or TIMESTAMP")
            }
            return try Self.inferred(value, name)
        }
        guard let text = tag.string else {
            throw RequestFault(fault: RequestObject.mismatch(tag, "type", "a string"))
        }
        guard let (element, isList) = Self.tags[text] else {
            throw Fault.badRequest(
                "field '\(name.text)': unknown type '\(text)'; expected one of STRING, INT64, "
                    + "DOUBLE, TIMESTAMP, BYTES, REFERENCE, ASSETID, LOCATION, each also with _LIST"
            )
        }
        if isEncrypted, element == .reference || element == .asset {
            throw Fault.badRequest("field '\(name.text)': a \(text) cannot be encrypted")
        }
        if element == .unknown, value.count > 0 {
            throw Fault.badRequest("field '\(name.text)': UNKNOWN_LIST is for empty lists only")
        }
        return FieldType(element, isList: isList, isEncrypted: isEncrypted)
    }

    private static let tags: [String: (FieldType.Element, Bool)] = {
        var tags: [String: (FieldType.Element, Bool)] = [:]
        for element in FieldType.Element.allCases {
            if element != .unknown { tags["\(element.tag)"] = (element, false) }
            tags["\(element.tag)_LIST"] = (element, true)
        }
        return tags
    }()

    private static func inferred(_ value: JSONValue, _ name: FieldName) throws -> FieldType {
        guard value.kind == .array else { return FieldType(try element(of: value, name)) }
        var found: FieldType.Element?
        for item in value.elements {
            let next = try element(of: item, name)
            if found == nil || found == next {
                found = next
            } else if found == .int64 || found == .double, next == .int64 || next == .double {
                found = .double
            } else {
                throw Fault.badRequest("field '\(name.text)': a list has values of one type")
            }
        }
        return FieldType(found ?? .unknown, isList: true)
    }

    private static func element(
        of value: JSONValue, _ name: FieldName
    ) throws -> FieldType.Element {
        switch value.kind {
        case .string: return .string
        case .number: return value.isInteger ? .int64 : .double
        case .object:
            if value["latitude"] != nil { return .location }
            if value["recordName"] != nil { return .reference }
            if value["fileChecksum"] != nil || value["receipt"] != nil { return .asset }
        case .array, .true, .false, .null: break
        }
        throw Fault.badRequest(
            "field '\(name.text)': no type has such a value; expected a string, a number, a "
                + "location, a reference, an asset, or a list of one of them")
    }
}
