import CloudModel

/// One difference between two schemas.
package enum SchemaChange: Sendable, Equatable {
    case roleAdded(RoleName)
    case roleRemoved(RoleName)
    /// Only the type: its fields and grants are changes of their own.
    case typeAdded(RecordTypeName)
    /// With everything in it.
    case typeRemoved(RecordTypeName)
    case fieldAdded(RecordTypeName, FieldName, Schema.Field)
    case fieldRemoved(RecordTypeName, FieldName, Schema.Field)
    /// A NUMBER has become INT64 or DOUBLE, or now prefers one of them; its indexes stay.
    case fieldSettled(RecordTypeName, FieldName, from: Schema.Field, to: Schema.Field)
    case indexesAdded(RecordTypeName, RecordQuery.Subject, IndexOptions)
    case indexesRemoved(RecordTypeName, RecordQuery.Subject, IndexOptions)
    case granted(RecordTypeName, RoleName, Permissions)
    case revoked(RecordTypeName, RoleName, Permissions)

    /// Whether it only adds, and takes nothing away.
    package var isAddition: Bool {
        switch self {
        case .roleAdded, .typeAdded, .fieldAdded, .fieldSettled, .indexesAdded, .granted: true
        case .roleRemoved, .typeRemoved, .fieldRemoved, .indexesRemoved, .revoked: false
        }
    }
}

extension SchemaChange: CustomStringConvertible {
    /// One line that begins with `+`, `-` or `~`.
    package var description: String {
        switch self {
        case .roleAdded(let role): "+ role \(role.text)"
        case .roleRemoved(let role): "- role \(role.text)"
        case .typeAdded(let type): "+ type \(type.text)"
        case .typeRemoved(let type): "- type \(type.text)"
        case .fieldAdded(let type, let name, let field):
            "+ field \(type.text).\(name.text) \(SchemaLanguage.text(field))"
        case .fieldRemoved(let type, let name, let field):
            "- field \(type.text).\(name.text) \(SchemaLanguage.text(field))"
        case .fieldSettled(let type, let name, let from, let to):
            "~ field \(type.text).\(name.text) "
                + SchemaLanguage.text(from.type, preferred: from.preferred) + " -> "
                + SchemaLanguage.text(to.type, preferred: to.preferred)
        case .indexesAdded(let type, let subject, let options):
            "+ index \(type.text).\(subject.text) \(Self.joined(options))"
        case .indexesRemoved(let type, let subject, let options):
            "- index \(type.text).\(subject.text) \(Self.joined(options))"
        case .granted(let type, let role, let granted):
            "+ grant \(Self.joined(granted)) on \(type.text) to \(role.text)"
        case .revoked(let type, let role, let granted):
            "- grant \(Self.joined(granted)) on \(type.text) to \(role.text)"
        }
    }

    private static func joined(_ options: IndexOptions) -> String {
        SchemaLanguage.words(options).joined(separator: " ")
    }

    private static func joined(_ granted: Permissions) -> String {
        SchemaLanguage.words(granted).joined(separator: ", ")
    }
}

extension RecordQuery.Subject {
    /// The name in the schema language.
    fileprivate var text: String {
        switch self {
        case .field(let name): name.text
        case .system(let field): field.rawValue
        }
    }
}

extension Schema {
    /// Makes one change; the thing that it names must exist, or must not exist yet, as the change requires.
    package mutating func apply(_ change: SchemaChange) {
        switch change {
        case .roleAdded(let role): roles[role] = roles[role] ?? 0
        case .roleRemoved(let role): roles[role] = nil
        case .typeAdded(let name): types[name] = types[name] ?? RecordType(grants: [:])
        case .typeRemoved(let name): types[name] = nil
        case .fieldAdded(let type, let name, let field): types[type]?.fields[name] = field
        case .fieldRemoved(let type, let name, _): types[type]?.fields[name] = nil
        case .fieldSettled(let type, let name, _, let field):
            types[type]?.fields[name]?.type = field.type
            types[type]?.fields[name]?.preferred = field.preferred
        case .indexesAdded(let type, let subject, let options):
            changeOptions(subject, of: type) { $0.formUnion(options) }
        case .indexesRemoved(let type, let subject, let options):
            changeOptions(subject, of: type) { $0.subtract(options) }
        case .granted(let type, let role, let granted):
            types[type]?.grants[role, default: []].formUnion(granted)
        case .revoked(let type, let role, let granted):
            types[type]?.grants[role]?.subtract(granted)
            if types[type]?.grants[role]?.isEmpty == true { types[type]?.grants[role] = nil }
        }
    }

    private mutating func changeOptions(
        _ subject: RecordQuery.Subject, of type: RecordTypeName,
        _ change: (inout IndexOptions) -> Void
    ) {
        switch subject {
        case .field(let name):
            if var options = types[type]?.fields[name]?.indexes {
                change(&options)
                types[type]?.fields[name]?.indexes = options
            }
        case .system(let field):
            var options = types[type]?.systemFields[field] ?? []
            change(&options)
            types[type]?.systemFields[field] = options.isEmpty ? nil : options
        }
    }
}
