import CloudModel
import Foundation
import Seeding

/// Random names, types and schemas.
extension SeededRandom {
    /// Often enough a keyword, as names may be those too.
    mutating func name() -> String {
        let words = [
            "grant", "PREFERRED", "Queryable", "sortable", "SEARCHABLE", "LIST", "encrypted",
            "define",
            "Schema", "create", "ROLE", "record", "TYPE", "to", "AS", "number", "string", "Read",
            "a", "Z9_",
        ]
        guard below(3) > 0 else { return words[below(words.count)] }
        return "n\(below(40))" + String(repeating: "x", count: below(3))
    }

    mutating func field() -> Schema.Field {
        let elements: [FieldType.Element] = [
            .string, .int64, .double, .timestamp, .bytes, .reference, .asset, .location, .number,
        ]
        let element = elements[below(elements.count)]
        let mayBeEncrypted = ![.reference, .asset, .number].contains(element)
        let type = FieldType(
            element, isList: below(3) == 0, isEncrypted: mayBeEncrypted && below(4) == 0)
        return Schema.Field(
            type: type,
            indexes: IndexOptions(rawValue: Int64(below(8))).intersection(
                type.indexOptionsDeclarable),
            preferred: element == .number ? [nil, .int64, .double][below(3)] : nil)
    }

    /// A schema with the types that every schema has.
    mutating func schema() -> Schema {
        var schema = Schema()
        for _ in 0..<below(4) { if let role = RoleName(name()) { schema.roles[role] = 0 } }
        let roles = RoleName.builtIn + schema.roles.keys
        for _ in 0..<below(6) {
            guard let name = below(8) == 0 ? .users : RecordTypeName(name()) else { continue }
            var type = Schema.RecordType(grants: [:])
            for _ in 0..<below(8) {
                if let name = FieldName(self.name()) { type.fields[name] = field() }
            }
            for field in SystemField.allCases where below(4) == 0 {
                type.systemFields[field] = IndexOptions(rawValue: Int64(1 + below(7)))
            }
            for role in roles where below(2) == 0 {
                type.grants[role] = Permissions(rawValue: Int64(1 + below(7)))
            }
            schema.types[name] = type
        }
        return schema.withBuiltInTypes
    }
}
