import CloudModel

extension SchemaLanguage {
    /// Writes a schema in its only canonical form: equal schemas give equal texts.
    ///
    /// Roles, types and fields come in the order of their names' bytes. System fields are sorted in among
    /// them, and grants come last. A type that every schema has is left out while it says nothing of its own,
    /// except `Users`.
    package static func print(_ schema: Schema) -> String {
        var text = "DEFINE SCHEMA\n"
        for role in schema.roles.keys.map(\.text).sorted(by: precedes) {
            text += "\n    CREATE ROLE \(quoted(role));\n"
        }
        for (name, type) in sorted(schema.types, by: \.text) where isWritten(name, type) {
            text += "\n    RECORD TYPE \(quoted(name.text)) (\n"
            text += items(of: type).map { "        \($0)" }.joined(separator: ",\n")
            text += "\n    );\n"
        }
        return text
    }

    private static func isWritten(_ name: RecordTypeName, _ type: Schema.RecordType) -> Bool {
        name != .share || !type.fields.isEmpty || !type.systemFields.isEmpty
            || !type.grants.isEmpty
    }

    private static func items(of type: Schema.RecordType) -> [String] {
        var rows: [(name: String, what: String)] = []
        for field in SystemField.allCases {
            let indexes = type.systemFields[field] ?? []
            guard field.isAlwaysListed || !indexes.isEmpty else { continue }
            rows.append(
                (field.rawValue, text(Schema.Field(type: field.declaredType, indexes: indexes))))
        }
        for (name, field) in type.fields { rows.append((name.text, text(field))) }
        rows.sort { precedes($0.name, $1.name) }
        let width = rows.map { quoted($0.name).utf8.count }.max() ?? 0
        let fields = rows.map { name, what in
            let name = quoted(name)
            return name + String(repeating: " ", count: width - name.utf8.count + 1) + what
        }
        return fields
            + grantsSorted(type.grants).map { role, granted in
                "GRANT \(words(granted).joined(separator: ", ")) TO \(quoted(role.text))"
            }
    }

    /// Built-in roles first; roles that may do nothing are left out.
    static func grantsSorted(
        _ grants: [RoleName: Permissions]
    ) -> [(role: RoleName, granted: Permissions)] {
        let known = sorted(grants, by: \.text).filter { !words($0.1).isEmpty }
        return known.filter(\.0.isBuiltIn).map { ($0.0, $0.1) }
            + known.filter { !$0.0.isBuiltIn }.map { ($0.0, $0.1) }
    }

    /// The entries of a dictionary in the order of their keys' bytes.
    static func sorted<Key, Value>(
        _ entries: [Key: Value], by name: KeyPath<Key, String>
    ) -> [(Key, Value)] {
        entries.sorted { precedes($0.key[keyPath: name], $1.key[keyPath: name]) }
            .map { ($0.key, $0.value) }
    }

    /// Compares by bytes, whatever the language of the machine.
    static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
