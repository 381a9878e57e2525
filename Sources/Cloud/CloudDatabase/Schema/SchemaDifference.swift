import CloudModel

/// The differences between two schemas, in an order in which the changes can be made.
package struct SchemaDifference: Sendable, Equatable {
    /// Empty when the schemas say the same.
    package var changes: [SchemaChange]

    package init(_ changes: [SchemaChange]) { self.changes = changes }

    /// Finds the changes that turn the old schema into the new one.
    package init(from old: Schema, to new: Schema) {
        changes = []
        for role in Self.names(new.roles, but: old.roles, by: \.text) {
            changes.append(.roleAdded(role))
        }
        let types = old.types.merging(new.types) { first, _ in first }
        for (name, _) in SchemaLanguage.sorted(types, by: \.text) {
            switch (old.types[name], new.types[name]) {
            case (let previous?, let type?): append(name, from: previous, to: type)
            case (nil, let type?):
                changes.append(.typeAdded(name))
                append(name, from: Schema.RecordType(grants: [:]), to: type)
            case (_, nil): changes.append(.typeRemoved(name))
            }
        }
        for role in Self.names(old.roles, but: new.roles, by: \.text) {
            changes.append(.roleRemoved(role))
        }
    }

    package var isEmpty: Bool { changes.isEmpty }

    /// A line for each change.
    package var lines: [String] { changes.map(\.description) }

    /// The types and fields that are removed.
    package var removals: Schema.Parts {
        var parts = Schema.Parts()
        for change in changes {
            switch change {
            case .typeRemoved(let type): parts.types.insert(type)
            case .fieldRemoved(let type, let field, _):
                parts.fields[type, default: []].insert(field)
            default: break
            }
        }
        return parts
    }

    private mutating func append(
        _ name: RecordTypeName, from old: Schema.RecordType, to new: Schema.RecordType
    ) {
        for field in SystemField.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
            appendIndexes(
                name, .system(field), from: old.systemFields[field] ?? [],
                to: new.systemFields[field] ?? [])
        }
        let fields = old.fields.merging(new.fields) { first, _ in first }
        for (field, _) in SchemaLanguage.sorted(fields, by: \.text) {
            append(name, field, from: old.fields[field], to: new.fields[field])
        }
        let roles = old.grants.merging(new.grants) { first, _ in first }
        for (role, _) in SchemaLanguage.grantsSorted(roles.mapValues { _ in .all }) {
            let (previous, granted) = (old.grants[role] ?? [], new.grants[role] ?? [])
            let (lost, won) = (previous.subtracting(granted), granted.subtracting(previous))
            if !lost.isEmpty { changes.append(.revoked(name, role, lost)) }
            if !won.isEmpty { changes.append(.granted(name, role, won)) }
        }
    }

    private mutating func append(
        _ type: RecordTypeName, _ name: FieldName, from old: Schema.Field?, to new: Schema.Field?
    ) {
        guard let old else {
            if let new { changes.append(.fieldAdded(type, name, new)) }
            return
        }
        guard let new else { return changes.append(.fieldRemoved(type, name, old)) }
        if old.type != new.type || old.preferred != new.preferred {
            guard old.maySettle(as: new) else {
                changes.append(.fieldRemoved(type, name, old))
                return changes.append(.fieldAdded(type, name, new))
            }
            changes.append(.fieldSettled(type, name, from: old, to: new))
        }
        appendIndexes(type, .field(name), from: old.indexes, to: new.indexes)
    }

    private mutating func appendIndexes(
        _ type: RecordTypeName, _ subject: RecordQuery.Subject, from old: IndexOptions,
        to new: IndexOptions
    ) {
        let (lost, won) = (old.subtracting(new), new.subtracting(old))
        if !lost.isEmpty { changes.append(.indexesRemoved(type, subject, lost)) }
        if !won.isEmpty { changes.append(.indexesAdded(type, subject, won)) }
    }

    private static func names<Key, Value>(
        _ entries: [Key: Value], but others: [Key: Value], by name: KeyPath<Key, String>
    ) -> [Key] {
        SchemaLanguage.sorted(entries, by: name).map(\.0).filter { others[$0] == nil }
    }
}

extension Permissions {
    fileprivate static let all: Permissions = [.read, .create, .write]
}

extension Schema.Field {
    /// Whether a NUMBER may become the other field.
    ///
    /// It may become INT64 or DOUBLE. It may also get a preference for one of them if it has none; that is
    /// final.
    func maySettle(as other: Schema.Field) -> Bool {
        guard type.element == .number, other.type.isList == type.isList,
            !other.type.isEncrypted
        else { return false }
        switch other.type.element {
        case .int64, .double: return true
        case .number: return preferred == nil
        default: return false
        }
    }
}

extension Schema {
    /// The schema, where each NUMBER is what another schema has already made of it.
    ///
    /// A file that says NUMBER does not contradict a store in which the field has become INT64 or DOUBLE. Nor
    /// does a NUMBER without a preference contradict one that has it.
    package func settled(over other: Schema) -> Schema {
        var settled = self
        for (name, type) in types {
            for (field, wanted) in type.fields where wanted.type.element == .number {
                guard let known = other.types[name]?.fields[field], wanted.maySettle(as: known),
                    known.type.element != .number || wanted.preferred == nil
                else { continue }
                settled.types[name]?.fields[field]?.type = known.type
                settled.types[name]?.fields[field]?.preferred = known.preferred
            }
        }
        return settled
    }
}
