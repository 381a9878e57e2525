#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// The rows of a whole schema, in place of those that a store had.
    ///
    /// A change of the schema is rare, so nothing looks for what is the same.
    struct SchemaChange {
        private let store: Int64
        private(set) var queries: [Query] = []

        private init(_ store: Int64) { self.store = store }

        /// - Parameter schema: with the numbers of all that is in it.
        static func queries(_ store: Int64, _ schema: Schema) -> [Query] {
            var change = SchemaChange(store)
            change.replaceTypes(schema)
            change.replaceFields(schema)
            change.replaceRoles(schema)
            return change.queries
        }

        /// Holds parts and no others.
        static func queries(
            _ store: Int64, holding parts: Schema.Parts, until moment: Milliseconds
        ) -> [Query] {
            var change = SchemaChange(store)
            let rows =
                parts.types.map { ($0.text, "") }
                + parts.fields.flatMap { type, fields in fields.map { (type.text, $0.text) } }
            change.clear("held_parts")
            change.queries.append(
                Query(
                    """
                    INSERT INTO held_parts (store, type_name, field, held_until)
                    SELECT $1, type_name, field, $2
                    FROM unnest($3::bytea[], $4::bytea[]) AS held (type_name, field)
                    """, .number(store), .number(moment), .texts(rows.map(\.0)),
                    .texts(rows.map(\.1))))
            return change.queries
        }

        private mutating func clear(_ table: String) {
            queries.append(Query("DELETE FROM \(table) WHERE store = $1", .number(store)))
        }

        private mutating func replaceTypes(_ schema: Schema) {
            let rows =
                schema.types.map { ($0.value.number, $0.key.text, Int64(0)) }
                + schema.earlierTypes.map { ($0.value, $0.key.text, Int64(1)) }
            clear("record_types")
            queries.append(
                Query(
                    """
                    INSERT INTO record_types (store, type, name, is_removed)
                    SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bigint[])
                    """, .number(store), .numbers(rows.map(\.0)), .texts(rows.map(\.1)),
                    .numbers(rows.map(\.2))))
        }

        private mutating func replaceFields(_ schema: Schema) {
            let rows = schema.types.values.flatMap { type in
                type.fields.map { (type.number, $0.key.text, $0.value) }
            }
            clear("fields")
            queries.append(
                Query(
                    """
                    INSERT INTO fields (store, type, name, value_type, indexes, preferred)
                    SELECT $1, * FROM unnest(
                        $2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[])
                    """, .number(store), .numbers(rows.map(\.0)), .texts(rows.map(\.1)),
                    .numbers(rows.map { $0.2.type.stored }),
                    .numbers(rows.map { $0.2.indexes.rawValue }),
                    .numbers(
                        rows.map { $0.2.preferred.map { Int64($0.rawValue) + 1 } ?? 0 })))
            let system = schema.types.values.flatMap { type in
                type.systemFields.map { (type.number, $0.key.rawValue, $0.value.rawValue) }
            }
            clear("system_fields")
            queries.append(
                Query(
                    """
                    INSERT INTO system_fields (store, type, name, indexes)
                    SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bigint[])
                    """, .number(store), .numbers(system.map(\.0)), .texts(system.map(\.1)),
                    .numbers(system.map(\.2))))
        }

        private mutating func replaceRoles(_ schema: Schema) {
            let roles = schema.roles.map { ($0.value, $0.key.text) }
            clear("roles")
            queries.append(
                Query(
                    """
                    INSERT INTO roles (store, role, name)
                    SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])
                    """, .number(store), .numbers(roles.map(\.0)), .texts(roles.map(\.1))))
            queries.append(
                Query(
                    "DELETE FROM assigned_roles WHERE store = $1 AND role <> ALL ($2)",
                    .number(store), .numbers(roles.map(\.0))))
            let grants = schema.types.values.flatMap { type in
                type.grants.map { (type.number, $0.key.text, $0.value.rawValue) }
            }
            clear("permissions")
            queries.append(
                Query(
                    """
                    INSERT INTO permissions (store, type, role, granted)
                    SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bigint[])
                    """, .number(store), .numbers(grants.map(\.0)), .texts(grants.map(\.1)),
                    .numbers(grants.map(\.2))))
        }
    }
#endif
