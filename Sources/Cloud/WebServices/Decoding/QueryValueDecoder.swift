import CloudModel
import Cryptography
import JSON
import RecordDecoding

/// Reads the values that a query compares fields with (web-services.md §5.5, §5.9).
struct QueryValueDecoder {
    private let zones: ZoneReader
    private let listValuesMax: Int
    private var listValues = 0

    /// - Parameter listValuesMax: how many values all lists of a query may have together.
    init(zones: ZoneReader, listValuesMax: Int) {
        self.zones = zones
        self.listValuesMax = listValuesMax
    }

    /// The value of a `fieldValue`, and its type.
    ///
    /// - Throws: `Fault` BAD_REQUEST; as in the service, also for IN and NOT_IN without the type of a list.
    mutating func decode(
        _ field: RequestObject, for comparator: RecordQuery.Comparator
    ) throws(Fault) -> (FieldType, RecordQuery.Value) {
        guard let value = field["value"] else { throw RequestObject.missing("value") }
        let tag: FieldType? = if let tag = field["type"] { try Self.type(tag) } else { nil }
        if comparator == .in || comparator == .notIn, tag?.isList != true {
            throw RequestObject.mismatch(
                field.value, "fieldValue",
                "a list with its type for \(comparator.rawValue), such as STRING_LIST")
        }
        let type = if let tag { tag } else { try inferred(value) }
        guard type.isList else { return (type, try decode(value, as: type.element)) }
        guard value.kind == .array else {
            throw Self.mismatch(value, "an array for \(type.name)")
        }
        listValues += value.count
        guard listValues <= listValuesMax else {
            throw .limitExceeded(
                "fieldValue: more than \(listValuesMax) values in the lists of one query")
        }
        var list: [RecordQuery.Value] = []
        list.reserveCapacity(value.count)
        for element in value.elements { list.append(try decode(element, as: type.element)) }
        return (type, .list(list))
    }

    private static func type(_ tag: JSONValue) throws(Fault) -> FieldType {
        guard let known = FieldDecoder.plain.first(where: { tag.stringEquals($0.tag) }) else {
            throw RequestObject.mismatch(
                tag, "type",
                "one of STRING, INT64, DOUBLE, TIMESTAMP, BYTES, REFERENCE, ASSETID, LOCATION, each "
                    + "also with _LIST")
        }
        return known.type
    }

    // MARK: - Without a type

    private func inferred(_ value: JSONValue) throws(Fault) -> FieldType {
        guard value.kind == .array else { return FieldType(try Self.element(of: value)) }
        var found: FieldType.Element?
        for item in value.elements {
            let next = try Self.element(of: item)
            if found == nil || found == next {
                found = next
            } else if found == .int64 || found == .double, next == .int64 || next == .double {
                found = .double
            } else {
                throw Self.mismatch(item, "a list of values of one type")
            }
        }
        return FieldType(found ?? .unknown, isList: true)
    }

    private static func element(of value: JSONValue) throws(Fault) -> FieldType.Element {
        switch value.kind {
        case .string: return .string
        case .number: return value.int64 == nil ? .double : .int64
        case .object:
            if value["latitude"] != nil { return .location }
            if value["recordName"] != nil { return .reference }
            if value["fileChecksum"] != nil || value["receipt"] != nil { return .asset }
        case .array, .true, .false, .null: break
        }
        throw mismatch(
            value, "a string, a number, a location, a reference, or a list of one of them")
    }

    // MARK: - Of a type

    private func decode(
        _ value: JSONValue, as element: FieldType.Element
    ) throws(Fault) -> RecordQuery.Value {
        switch element {
        case .string:
            guard let text = value.string else { throw Self.mismatch(value, "a string for STRING") }
            return .string(text)
        case .int64:
            guard let number = FieldValueWriter.integer(value) else {
                throw Self.mismatch(value, "a whole number of 64 bits for INT64")
            }
            return .int64(number)
        case .double:
            guard let number = FieldValueWriter.double(value) else {
                throw Self.mismatch(value, "a number for DOUBLE")
            }
            return .double(number)
        case .timestamp:
            guard let number = FieldValueWriter.integer(value) else {
                throw Self.mismatch(value, "whole milliseconds since 1970 for TIMESTAMP")
            }
            return .timestamp(number)
        case .bytes:
            guard let bytes = value.string.flatMap({ Base64.decode($0) }) else {
                throw Self.mismatch(value, "a string of padded base64 for BYTES")
            }
            return .bytes(bytes)
        case .reference: return try reference(value)
        case .location:
            guard let location = Self.location(value) else {
                throw Self.mismatch(value, Self.locationExpected + " for LOCATION")
            }
            return .location(location)
        case .asset: throw .badRequest("fieldValue: assets cannot be queried")
        case .unknown: throw Self.mismatch(value, "an empty list for UNKNOWN_LIST")
        case .number: throw Self.mismatch(value, "INT64 or DOUBLE as the type of a number")
        }
    }

    /// Only the record and its zone count: what a reference does is not compared.
    private func reference(_ value: JSONValue) throws(Fault) -> RecordQuery.Value {
        guard value.kind == .object, let text = value["recordName"]?.string,
            let name = RecordName(text)
        else { throw Self.mismatch(value, "an object with recordName for REFERENCE") }
        guard let zone = try RequestObject(value, key: "value").object("zoneID") else {
            return .reference(name, nil)
        }
        let id = try zones.zone(zone)
        // References stay within their database. In a shared database, they name the zone's owner.
        guard id.owner == nil || zones.scope == .shared else { throw .foreignZone }
        return .reference(name, id.name)
    }

    /// The point of an object with `latitude` and `longitude`; nil for anything else.
    static func location(_ value: JSONValue) -> RecordQuery.Coordinate? {
        guard let latitude = value["latitude"]?.double, let longitude = value["longitude"]?.double,
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { return nil }
        return RecordQuery.Coordinate(latitude: latitude, longitude: longitude)
    }

    static let locationExpected = "an object with latitude (-90 to 90) and longitude (-180 to 180)"

    private static func mismatch(_ value: JSONValue, _ expected: String) -> Fault {
        RequestObject.mismatch(value, "fieldValue", expected)
    }
}

extension QueryValueDecoder {
    static let shape = ObjectShape(
        "FieldValue",
        [
            .required("value", .anyOf(values + [.list(.anyOf(values))])),
            .optional("type", .words(FieldDecoder.plain.map { "\($0.tag)" })),
        ])
}

extension QueryValueDecoder {
    /// An asset is known for one, and refused.
    private static let values: [ValueShape] = [
        .text(examples: ["Tea"]), .number(example: 3),
        .object(ObjectShape("ComparedLocation", coordinates)),
        .object(
            ObjectShape(
                "ComparedReference", [.required("recordName", .recordName), ZoneReader.key])),
        .object(
            ObjectShape(
                "ComparedAsset", [.optional("fileChecksum", .text), .optional("receipt", .text)])),
    ]

    private static let coordinates: [ObjectKey] = [
        .optional("latitude", .number(-90...90, example: 52.52)),
        .optional("longitude", .number(-180...180, example: 13.405)),
    ]

    /// From where a sort counts; some clients wrap it as a field's value.
    static let centre = ObjectShape(
        "Centre",
        coordinates + [.alias("value", .object(ObjectShape("WrappedCentre", coordinates)))])
}
