import CloudDatabase
import CloudModel
import Cryptography
import JSON

/// Writes one value of a field in the form in which it is stored, or says what is wrong with it.
package struct FieldValueWriter {
    private let zones: ZoneReader
    private var field: FieldName?
    private(set) var references: [FieldReference] = []
    private(set) var assets: [FieldAsset] = []

    init(zones: ZoneReader) { self.zones = zones }

    /// Turns to the next field, whose references and assets are then collected.
    mutating func begin(_ field: FieldName) {
        self.field = field
        if !references.isEmpty { references = [] }
        if !assets.isEmpty { assets = [] }
    }

    private var fieldText: String { field?.text ?? "" }

    mutating func append(
        _ value: JSONValue, as element: FieldType.Element, to writer: inout JSONWriter
    ) throws {
        switch element {
        case .string:
            guard value.kind == .string else { throw mismatch("a string for STRING") }
            writer.string(value)
        case .int64:
            guard let number = Self.integer(value) else {
                throw mismatch("a whole number of 64 bits for INT64")
            }
            writer.integer(number)
        case .double:
            guard let number = Self.double(value) else { throw mismatch("a number for DOUBLE") }
            writer.double(number)
        case .timestamp:
            guard let number = Self.integer(value) else {
                throw mismatch("whole milliseconds since 1970 for TIMESTAMP")
            }
            writer.integer(number)
        case .bytes:
            guard let text = value.string, Base64.decode(text) != nil else {
                throw mismatch("a string of padded base64 for BYTES")
            }
            writer.string(text)
        case .reference: try append(reference: value, to: &writer)
        case .location: try append(location: value, to: &writer)
        case .asset: try append(asset: value, to: &writer)
        case .unknown: throw mismatch("an empty list for UNKNOWN_LIST")
        case .number: throw mismatch("INT64 or DOUBLE as the type of a number")
        }
    }

    func mismatch(_ expected: String) -> Fault {
        .badRequest("Invalid value for field '\(fieldText)': expected \(expected)")
    }

    package static func integer(_ value: JSONValue) -> Int64? {
        value.int64 ?? value.string.flatMap { Int64($0) }
    }

    package static func double(_ value: JSONValue) -> Double? {
        if value.kind == .number { return value.double }
        guard let text = value.string, let number = Double(text), number.isFinite else {
            return nil
        }
        // Swift also reads hexadecimal numbers and names of numbers, which JSON does not have.
        let isDecimal = text.utf8.allSatisfy {
            ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
                || "+-.eE".utf8.contains($0)
        }
        return isDecimal ? number : nil
    }

    private mutating func append(reference value: JSONValue, to writer: inout JSONWriter) throws {
        guard value.kind == .object, let text = value["recordName"]?.string,
            let name = RecordName(text)
        else { throw mismatch("an object with recordName and action for REFERENCE") }
        let object = try requestLevel { () throws(Fault) in
            try RequestObject(value, key: "value")
        }
        let (action, spelling) = try requestLevel { () throws(Fault) in
            let action = try object.word("action", FieldReference.Action.self) ?? .none
            guard let zone = try object.object("zoneID") else {
                return (action, ZoneReader.Spelling?.none)
            }
            return (action, try ZoneReader.spelling(zone))
        }
        writer.raw("{\"recordName\":")
        writer.string(name.text)
        let zoneID = try spelling.map { try zones.zone($0) }
        if let zoneID {
            guard zoneID.owner == nil else {
                throw mismatch("a reference within the database, not to another owner's zone")
            }
            writer.raw(",\"zoneID\":{\"zoneName\":")
            writer.string(zoneID.name.text)
            writer.raw("}")
        }
        writer.raw(",\"action\":\"")
        writer.bytes.append(contentsOf: action.rawValue.utf8)
        writer.raw("\"}")
        references.append(FieldReference(name: name, zone: zoneID, action: action))
    }

    private func append(location value: JSONValue, to writer: inout JSONWriter) throws {
        guard value.kind == .object, let latitude = value["latitude"]?.double,
            let longitude = value["longitude"]?.double, (-90...90).contains(latitude),
            (-180...180).contains(longitude)
        else {
            throw mismatch(
                "an object with latitude (-90 to 90) and longitude (-180 to 180) for LOCATION")
        }
        writer.raw("{\"latitude\":")
        writer.double(latitude)
        writer.raw(",\"longitude\":")
        writer.double(longitude)
        for key: StaticString in [
            "altitude", "horizontalAccuracy", "verticalAccuracy", "course", "speed",
        ] {
            guard let member = value[key], !member.isNull else { continue }
            guard let number = member.double else { throw mismatch("a number for \(key)") }
            writer.raw(",\"")
            writer.raw(key)
            writer.raw("\":")
            writer.double(number)
        }
        if let member = value["timestamp"], !member.isNull {
            guard let moment = member.int64 else {
                throw mismatch("whole milliseconds since 1970 for the location's timestamp")
            }
            writer.raw(",\"timestamp\":")
            writer.integer(moment)
        }
        writer.raw("}")
    }

    /// Appends an asset: with a receipt, as the receipt says; without one, it stands for what its field
    /// holds.
    private mutating func append(asset value: JSONValue, to writer: inout JSONWriter) throws {
        guard value.kind == .object else {
            throw FieldDecoder.RequestFault(
                fault: .badRequest("could not decode asset object: field '\(fieldText)'"))
        }
        let object = try requestLevel { () throws(Fault) in
            try RequestObject(value, key: "value")
        }
        let (checksum, text, size) = try requestLevel { () throws(Fault) in
            (
                try object.string("fileChecksum"), try object.string("receipt"),
                try object.integer("size")
            )
        }
        guard let text else {
            guard let checksum else { throw mismatch("fileChecksum and receipt for ASSETID") }
            assets.append(FieldAsset(checksum: checksum, receipt: nil))
            // The record's own value replaces it later.
            return writer.raw("null")
        }
        guard let receipt = ReceiptText.decode(text) else {
            throw Fault.badRequest(
                "field '\(fieldText)': the asset's receipt is unknown or has expired; "
                    + "upload it again")
        }
        let known = ReceiptText.checksum(of: receipt.content.digest)
        guard checksum ?? known == known else {
            throw mismatch("the fileChecksum that came with the receipt")
        }
        guard size.map({ $0 == Int64(receipt.content.size) }) ?? true else {
            throw mismatch("the size that came with the receipt")
        }
        assets.append(FieldAsset(checksum: known, receipt: receipt))
        StoredAsset.append(receipt.content, checksum: known, to: &writer)
    }

    private func requestLevel<Value>(_ read: () throws(Fault) -> Value) throws -> Value {
        do throws(Fault) { return try read() } catch {
            throw FieldDecoder.RequestFault(fault: error)
        }
    }
}

extension FieldValueWriter {
    package static let reference = ObjectShape(
        "Reference",
        [
            .required("recordName", .recordName),
            .optional("action", .words(FieldReference.Action.self)), ZoneReader.key,
        ])

    package static let location = ObjectShape(
        "Location",
        [
            .required("latitude", .number(-90...90, example: 52.52)),
            .required("longitude", .number(-180...180, example: 13.405)),
            .optional("altitude", .number), .optional("horizontalAccuracy", .number),
            .optional("verticalAccuracy", .number), .optional("course", .number),
            .optional("speed", .number), .optional("timestamp", .integer),
        ])

    /// What an upload has answered, or the checksum of what the field holds.
    package static let asset = ObjectShape(
        "Asset", oneOf: ["fileChecksum", "receipt"],
        [
            .optional("fileChecksum", .text), .optional("receipt", .text),
            .optional("size", .integer),
        ])
}
