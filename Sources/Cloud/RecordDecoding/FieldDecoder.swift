import CloudModel
import JSON

/// Turns the `fields` of a request into the form in which they are stored (rulings.md 14).
///
/// Each value is checked against its own tag; without a tag, the type is inferred from the JSON. Whether the
/// schema agrees is decided later. It throws BAD_REQUEST for the item; but a field that is not an object
/// makes it refuse the whole request.
package struct FieldDecoder {
    /// A fault of the whole request found inside a field.
    struct RequestFault: Error {
        let fault: Fault
    }

    private let listValuesMax: Int
    /// Members of lists that have been read.
    private var listValues = 0
    private var values: FieldValueWriter
    private var writer: JSONWriter
    private var fields: [EncodedFields.Field] = []

    /// - Parameter listValuesMax: members that the lists may have together.
    static func decode(
        _ object: RequestObject?, zones: ZoneReader, listValuesMax: Int
    ) throws -> EncodedFields {
        guard let object else { return EncodedFields() }
        var decoder = FieldDecoder(zones: zones, object.value, listValuesMax)
        for (key, value) in object.value.members { try decoder.append(key, value) }
        return EncodedFields(bytes: decoder.writer.bytes, fields: decoder.fields)
    }

    private init(zones: ZoneReader, _ object: JSONValue, _ listValuesMax: Int) {
        self.listValuesMax = listValuesMax
        values = FieldValueWriter(zones: zones)
        // What is stored is seldom longer than what was sent.
        writer = JSONWriter(reserving: object.withRawBytes { $0.count } + 64)
        fields.reserveCapacity(object.count)
    }

    private mutating func append(_ key: JSONValue, _ field: JSONValue) throws {
        let text = key.string ?? ""
        guard let name = FieldName(text) else {
            throw Fault.badRequest(
                "field '\(Fault.shown(text))': a field's name is a letter, then letters, digits "
                    + "and _, at most 255")
        }
        guard field.kind == .object || field.isNull else {
            throw RequestFault(
                fault: RequestObject.mismatch(
                    field, "fields", "an object with value and type for '\(text)'"))
        }
        let (found, tag, flag) = field["value", "type", "isEncrypted"]
        guard let value = found, !value.isNull else {
            fields.append(EncodedFields.Field(name: name, type: nil, range: 0..<0, references: []))
            return
        }
        let isEncrypted = try Self.isEncrypted(flag)
        let type = try type(of: value, tag: tag, isEncrypted: isEncrypted, name)
        if !writer.bytes.isEmpty { writer.byte(UInt8(ascii: ",")) }
        let start = writer.bytes.count
        writer.string(key)
        writer.raw(":{\"value\":")
        values.begin(name)
        try append(value, as: type)
        type.appendEnding(to: &writer)
        fields.append(
            EncodedFields.Field(
                name: name, type: type, isInferred: tag?.isNull ?? true,
                range: start..<writer.bytes.count, references: values.references,
                assets: values.assets))
    }

    private mutating func append(_ value: JSONValue, as type: FieldType) throws {
        guard type.isList else { return try values.append(value, as: type.element, to: &writer) }
        guard value.kind == .array else { throw values.mismatch("an array for \(type.name)") }
        try countListValues(value.count, of: type)
        writer.raw("[")
        var isFirst = true
        for element in value.elements {
            if !isFirst { writer.raw(",") }
            isFirst = false
            try values.append(element, as: type.element, to: &writer)
        }
        writer.raw("]")
    }

    /// Counts members of lists that indexes can hold, before anything is done with them.
    private mutating func countListValues(_ count: Int, of type: FieldType) throws(Fault) {
        guard type.element != .asset, !type.isEncrypted else { return }
        listValues += count
        guard listValues <= listValuesMax else {
            throw .limitExceeded(
                "the lists of the record have more than \(listValuesMax) values")
        }
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
                    "field '\(name.text)': an encrypted field needs its type beside isEncrypted, as of "
                        + "ENCRYPTED_BYTES, ENCRYPTED_STRING, ENCRYPTED_DOUBLE, ENCRYPTED_INT64, "
                        + "ENCRYPTED_LOCATION or ENCRYPTED_TIMESTAMP; send \"type\":\"STRING\" "
                        + "or the like")
            }
            return try Self.inferred(value, name)
        }
        guard tag.kind == .string else {
            throw RequestFault(fault: RequestObject.mismatch(tag, "type", "a string"))
        }
        guard let plain = Self.plain.first(where: { tag.stringEquals($0.tag) }) else {
            throw Fault.badRequest(
                "field '\(name.text)': unknown type '\(Fault.shown(tag.string ?? ""))'; expected one "
                    + "of STRING, INT64, DOUBLE, TIMESTAMP, BYTES, REFERENCE, ASSETID, LOCATION, each also "
                    + "with _LIST")
        }
        let (element, isList) = (plain.type.element, plain.type.isList)
        if isEncrypted, element == .reference || element == .asset {
            throw Fault.badRequest(
                "field '\(name.text)': a value of type \(plain.tag) cannot be encrypted")
        }
        if element == .unknown, value.count > 0 {
            throw Fault.badRequest("field '\(name.text)': UNKNOWN_LIST is for empty lists only")
        }
        return FieldType(element, isList: isList, isEncrypted: isEncrypted)
    }

    /// The tags that a request may send, the usual ones first.
    package static let plain: [(tag: StaticString, type: FieldType)] = [
        ("STRING", FieldType(.string)), ("INT64", FieldType(.int64)),
        ("TIMESTAMP", FieldType(.timestamp)), ("DOUBLE", FieldType(.double)),
        ("REFERENCE", FieldType(.reference)), ("LOCATION", FieldType(.location)),
        ("BYTES", FieldType(.bytes)), ("ASSETID", FieldType(.asset)),
        ("STRING_LIST", FieldType(.string, isList: true)),
        ("INT64_LIST", FieldType(.int64, isList: true)),
        ("TIMESTAMP_LIST", FieldType(.timestamp, isList: true)),
        ("DOUBLE_LIST", FieldType(.double, isList: true)),
        ("REFERENCE_LIST", FieldType(.reference, isList: true)),
        ("LOCATION_LIST", FieldType(.location, isList: true)),
        ("BYTES_LIST", FieldType(.bytes, isList: true)),
        ("ASSETID_LIST", FieldType(.asset, isList: true)),
        ("UNKNOWN_LIST", FieldType(.unknown, isList: true)),
    ]

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

extension FieldType {
    /// Appends what follows a value of this type in a stored field.
    fileprivate func appendEnding(to writer: inout JSONWriter) {
        guard isList || isEncrypted else { return writer.raw(scalarEnding) }
        writer.raw(",\"type\":\"")
        writer.raw(element.tag)
        writer.raw(isList ? "_LIST\"" : "\"")
        writer.raw(isEncrypted ? ",\"isEncrypted\":true}" : "}")
    }

    // Whole, since nearly every field of every record ends in one of these.
    private var scalarEnding: StaticString {
        switch element {
        case .string: ",\"type\":\"STRING\"}"
        case .int64: ",\"type\":\"INT64\"}"
        case .double: ",\"type\":\"DOUBLE\"}"
        case .timestamp: ",\"type\":\"TIMESTAMP\"}"
        case .bytes: ",\"type\":\"BYTES\"}"
        case .reference: ",\"type\":\"REFERENCE\"}"
        case .asset: ",\"type\":\"ASSETID\"}"
        case .location: ",\"type\":\"LOCATION\"}"
        case .unknown: ",\"type\":\"UNKNOWN\"}"
        case .number: ",\"type\":\"NUMBER\"}"
        }
    }
}

extension FieldDecoder {
    /// A field of a record: without a type it gets one from its value.
    package static let shape = ObjectShape(
        "Field",
        [
            .optional("value", .anyOf(values + [.list(.anyOf(values))])),
            .optional("type", .words(plain.map { "\($0.tag)" })),
            .optional("isEncrypted", .flag),
        ])

    package static let values: [ValueShape] = [
        .text(examples: ["Tea"]), .number(example: 3), .object(FieldValueWriter.location),
        .object(FieldValueWriter.reference), .object(FieldValueWriter.asset),
    ]
}
