import CloudModel
import SQLite
import StoredRows

/// The schema as the store's tables hold it.
struct StoredSchema {
    private let connection: Connection
    private var schema = Schema()
    private var names: [Int64: RecordTypeName] = [:]

    /// Reads the whole schema, but for what is held of it.
    static func read(_ connection: Connection) throws -> Schema {
        var reading = StoredSchema(connection)
        try reading.readVersion()
        try reading.readTypes()
        try reading.readFields()
        try reading.readRoles()
        return reading.schema
    }

    private init(_ connection: Connection) { self.connection = connection }

    private mutating func readVersion() throws {
        let row = try connection.prepare("SELECT coalesce(max(number), 0) FROM schema_changes")
        defer { row.reset() }
        if try row.step() { schema.version = Int(clamping: row.int64(0)) }
    }

    private mutating func readTypes() throws {
        let rows = try connection.prepare(
            "SELECT id, name, is_removed FROM record_types")
        defer { rows.reset() }
        while try rows.step() {
            guard let name = RecordTypeName(rows.string(1)) else {
                throw InvalidRow(table: "record_types")
            }
            guard rows.int64(2) == 0 else {
                schema.earlierTypes[name] = rows.int64(0)
                continue
            }
            names[rows.int64(0)] = name
            schema.types[name] = Schema.RecordType(number: rows.int64(0), grants: [:])
        }
    }

    private mutating func readFields() throws {
        let rows = try connection.prepare(
            "SELECT record_type, name, value_type, indexes, preferred FROM fields")
        defer { rows.reset() }
        while try rows.step() {
            guard let type = names[rows.int64(0)], let name = FieldName(rows.string(1)),
                let kind = FieldType(stored: rows.int64(2))
            else { throw InvalidRow(table: "fields") }
            let options = IndexOptions(rawValue: rows.int64(3))
            let preferred = rows.int64(4)
            schema.types[type]?.fields[name] = Schema.Field(
                type: kind, indexes: options.intersection(kind.indexOptionsDeclarable),
                preferred: preferred > 0
                    ? FieldType.Element(rawValue: UInt8(clamping: preferred - 1)) : nil)
        }
        let system = try connection.prepare("SELECT record_type, name, indexes FROM system_fields")
        defer { system.reset() }
        while try system.step() {
            guard let type = names[system.int64(0)],
                let field = SystemField(rawValue: system.string(1))
            else { throw InvalidRow(table: "system_fields") }
            schema.types[type]?.systemFields[field] = IndexOptions(rawValue: system.int64(2))
        }
    }

    private mutating func readRoles() throws {
        let roles = try connection.prepare("SELECT id, name FROM roles WHERE is_removed = 0")
        defer { roles.reset() }
        while try roles.step() {
            guard let name = RoleName(roles.string(1)) else { throw InvalidRow(table: "roles") }
            schema.roles[name] = roles.int64(0)
        }
        let grants = try connection.prepare("SELECT record_type, role, granted FROM permissions")
        defer { grants.reset() }
        while try grants.step() {
            guard let type = names[grants.int64(0)], let role = RoleName(grants.string(1)) else {
                throw InvalidRow(table: "permissions")
            }
            schema.types[type]?.grants[role] = Permissions(rawValue: grants.int64(2))
        }
    }
}
