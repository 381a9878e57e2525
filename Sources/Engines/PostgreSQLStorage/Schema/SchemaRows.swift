#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// The schema as the tables of a store hold it.
    struct SchemaRows {
        private static let tables = [
            "SELECT coalesce(max(number), 0) FROM schema_changes WHERE store = $1",
            "SELECT type, name, is_removed FROM record_types WHERE store = $1",
            "SELECT type, name, value_type, indexes, preferred FROM fields WHERE store = $1",
            "SELECT type, name, indexes FROM system_fields WHERE store = $1",
            "SELECT role, name FROM roles WHERE store = $1",
            "SELECT type, role, granted FROM permissions WHERE store = $1",
            "SELECT type_name, field, held_until FROM held_parts WHERE store = $1",
        ]

        /// The queries that `read` reads.
        static func queries(_ store: Int64) -> [Query] {
            tables.map { Query($0, .number(store)) }
        }

        private var schema = Schema()
        private var heldUntil: Milliseconds = 0
        private var names: [Int64: RecordTypeName] = [:]

        private init() {}

        /// - Parameter rows: what `queries` brought.
        static func read(_ revision: Revision, _ rows: [Rows]) throws -> StoreFacts.KnownSchema {
            guard rows.count == tables.count else { throw InvalidRow(table: "schema_changes") }
            var reading = SchemaRows()
            reading.schema.version = Int(clamping: rows[0].number(0, 0))
            try reading.readTypes(rows[1])
            try reading.readFields(rows[2], rows[3])
            try reading.readRoles(rows[4], rows[5])
            try reading.readHeld(rows[6])
            return StoreFacts.KnownSchema(
                revision: revision, schema: reading.schema, heldUntil: reading.heldUntil)
        }

        private mutating func readTypes(_ rows: Rows) throws {
            for row in 0..<rows.count {
                guard let name = RecordTypeName(rows.text(row, 1)) else {
                    throw InvalidRow(table: "record_types")
                }
                let number = rows.number(row, 0)
                guard rows.number(row, 2) == 0 else {
                    schema.earlierTypes[name] = number
                    continue
                }
                names[number] = name
                schema.types[name] = Schema.RecordType(number: number, grants: [:])
            }
        }

        private mutating func readFields(_ rows: Rows, _ system: Rows) throws {
            for row in 0..<rows.count {
                guard let type = names[rows.number(row, 0)],
                    let name = FieldName(rows.text(row, 1)),
                    let kind = FieldType(stored: rows.number(row, 2))
                else { throw InvalidRow(table: "fields") }
                let options = IndexOptions(rawValue: rows.number(row, 3))
                let preferred = rows.number(row, 4)
                schema.types[type]?.fields[name] = Schema.Field(
                    type: kind, indexes: options.intersection(kind.indexOptionsDeclarable),
                    preferred: preferred > 0
                        ? FieldType.Element(rawValue: UInt8(clamping: preferred - 1)) : nil)
            }
            for row in 0..<system.count {
                guard let type = names[system.number(row, 0)],
                    let field = SystemField(rawValue: system.text(row, 1))
                else { throw InvalidRow(table: "system_fields") }
                let options = IndexOptions(rawValue: system.number(row, 2))
                schema.types[type]?.systemFields[field] = options
            }
        }

        private mutating func readRoles(_ rows: Rows, _ permissions: Rows) throws {
            for row in 0..<rows.count {
                guard let name = RoleName(rows.text(row, 1)) else {
                    throw InvalidRow(table: "roles")
                }
                schema.roles[name] = rows.number(row, 0)
            }
            for row in 0..<permissions.count {
                guard let type = names[permissions.number(row, 0)],
                    let role = RoleName(permissions.text(row, 1))
                else { throw InvalidRow(table: "permissions") }
                let granted = Permissions(rawValue: permissions.number(row, 2))
                schema.types[type]?.grants[role] = granted
            }
        }

        private mutating func readHeld(_ rows: Rows) throws {
            for row in 0..<rows.count {
                guard let type = RecordTypeName(rows.text(row, 0)) else {
                    throw InvalidRow(table: "held_parts")
                }
                let field = rows.text(row, 1)
                heldUntil = rows.number(row, 2)
                if field.isEmpty {
                    schema.leaving.types.insert(type)
                } else if let name = FieldName(field) {
                    schema.leaving.fields[type, default: []].insert(name)
                } else {
                    throw InvalidRow(table: "held_parts")
                }
            }
        }
    }
#endif
