import CloudModel
import SQLite
import StoredRows

/// Writes into the store's tables what one schema has and another has not.
///
/// A change of the schema is rare, so its statements are prepared when one comes.
struct SchemaWriter {
    private let connection: Connection
    /// Fields, by the number of their type, that queries may no longer use as before: what is kept
    /// for that is to be dropped.
    private(set) var lostIndexes: [Int64: Set<String>] = [:]

    init(_ connection: Connection) { self.connection = connection }

    /// Makes the stored schema another one.
    ///
    /// - Returns: the schema as it is stored, with the numbers of what is new in it.
    mutating func replace(
        _ old: Schema, by wanted: Schema, at moment: Milliseconds, who: String,
        difference: [String]
    ) throws -> Schema {
        var new = wanted
        new.earlierTypes = old.earlierTypes.filter { wanted.types[$0.key] == nil }
        for (name, type) in old.types where wanted.types[name] == nil {
            try remove(type)
            new.earlierTypes[name] = type.number
        }
        for (name, type) in wanted.types {
            let previous = old.types[name]
            var stored = type
            stored.number = try previous?.number ?? insertType(name)
            try replaceFields(of: stored, previous: previous)
            try replaceGrants(of: stored, previous: previous)
            new.types[name] = stored
        }
        for (role, number) in old.roles where new.roles[role] == nil { try removeRole(number) }
        for role in wanted.roles.keys {
            new.roles[role] = try old.roles[role] ?? insertRole(role)
        }
        new.version = old.version + 1
        try run(
            """
            INSERT INTO schema_changes (number, made_at, made_by, difference)
            VALUES (?1, ?2, ?3, ?4)
            """, .number(Int64(new.version)), .number(moment), .text(who),
            .text(difference.joined(separator: "\n")))
        return new
    }

    // MARK: - Types

    /// A type of that name may have been before: it gets its number back.
    private func insertType(_ name: RecordTypeName) throws -> Int64 {
        try run(
            """
            INSERT INTO record_types (name) VALUES (?1)
            ON CONFLICT (name) DO UPDATE SET is_removed = 0
            """, .text(name.text))
        let row = try connection.prepare("SELECT id FROM record_types WHERE name = ?1")
        defer { row.reset() }
        row.bind(name.text, at: 1)
        guard try row.step() else { throw InvalidRow(table: "record_types") }
        return row.int64(0)
    }

    private mutating func remove(_ type: Schema.RecordType) throws {
        let none = Schema.RecordType(number: type.number, grants: [:])
        try replaceFields(of: none, previous: type)
        try replaceGrants(of: none, previous: type)
        try run("UPDATE record_types SET is_removed = 1 WHERE id = ?1", .number(type.number))
    }

    private mutating func replaceFields(
        of type: Schema.RecordType, previous: Schema.RecordType?
    ) throws {
        for (name, field) in previous?.fields ?? [:] where type.fields[name] == nil {
            try run(
                "DELETE FROM fields WHERE record_type = ?1 AND name = ?2", .number(type.number),
                .text(name.text))
            indexOptionsChanged(
                of: name.text, in: type.number, from: field.indexes, to: [], isSameType: false)
        }
        for (name, field) in type.fields {
            let before = previous?.fields[name]
            guard field != before else { continue }
            try run(
                """
                INSERT OR REPLACE INTO fields (record_type, name, value_type, indexes, preferred)
                VALUES (?1, ?2, ?3, ?4, ?5)
                """, .number(type.number), .text(name.text), .number(field.type.stored),
                .number(field.indexes.rawValue),
                .number(field.preferred.map { Int64($0.rawValue) + 1 } ?? 0))
            indexOptionsChanged(
                of: name.text, in: type.number, from: before?.indexes ?? [], to: field.indexes,
                isSameType: before == nil || before?.type == field.type)
        }
        for field in SystemField.allCases {
            let (before, options) = (previous?.systemFields[field], type.systemFields[field])
            guard before != options else { continue }
            try run(
                "DELETE FROM system_fields WHERE record_type = ?1 AND name = ?2",
                .number(type.number), .text(field.rawValue))
            if let options {
                try run(
                    "INSERT INTO system_fields (record_type, name, indexes) VALUES (?1, ?2, ?3)",
                    .number(type.number), .text(field.rawValue), .number(options.rawValue))
            }
            indexOptionsChanged(
                of: field.rawValue, in: type.number, from: before ?? [], to: options ?? [],
                isSameType: true)
        }
    }

    private func replaceGrants(of type: Schema.RecordType, previous: Schema.RecordType?) throws {
        for role in (previous?.grants ?? [:]).keys where type.grants[role] == nil {
            try run(
                "DELETE FROM permissions WHERE record_type = ?1 AND role = ?2",
                .number(type.number), .text(role.text))
        }
        for (role, granted) in type.grants where previous?.grants[role] != granted {
            try run(
                """
                INSERT OR REPLACE INTO permissions (record_type, role, granted)
                VALUES (?1, ?2, ?3)
                """, .number(type.number), .text(role.text), .number(granted.rawValue))
        }
    }

    // MARK: - Indexes

    /// Notes what queries lose when a field's indexes or type change, or it comes or goes.
    ///
    /// System fields too. What new options need is built when a query first asks for it.
    private mutating func indexOptionsChanged(
        of field: String, in type: Int64, from old: IndexOptions, to new: IndexOptions,
        isSameType: Bool
    ) {
        let lost = isSameType ? old.subtracting(new) : old
        if !lost.isEmpty { lostIndexes[type, default: []].insert(field) }
    }

    // MARK: - Roles

    private func insertRole(_ role: RoleName) throws -> Int64 {
        try run("INSERT INTO roles (name) VALUES (?1)", .text(role.text))
        return connection.lastInsertedRowID
    }

    /// Takes the role's name away at once; who has it forgets it later, in steps.
    private func removeRole(_ number: Int64) throws {
        // No role can be called so.
        try run(
            "UPDATE roles SET is_removed = 1, name = '~' || id WHERE id = ?1", .number(number))
    }

    // MARK: - Statements

    private enum Value {
        case number(Int64)
        case text(String)
    }

    private func run(_ sql: String, _ values: Value...) throws {
        let statement = try connection.prepare(sql)
        for (index, value) in values.enumerated() {
            switch value {
            case .number(let number): statement.bind(number, at: Int32(index + 1))
            case .text(let text): statement.bind(text, at: Int32(index + 1))
            }
        }
        try statement.run()
    }
}
