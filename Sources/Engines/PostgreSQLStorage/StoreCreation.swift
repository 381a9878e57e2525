#if PostgreSQL
    import CloudModel
    import MigrationHistory
    import PostgreSQL
    import PostgreSQLMigrations
    import Storage
    import StoredRows

    /// Finds a store by its name, or makes it, in a database of this version.
    struct StoreCreation {
        private static let dayMilliseconds: Milliseconds = 86_400_000

        /// Brings a database to the form of this version.
        static let migrator = Migrator(
            MigrationHistory(embedded: lenticular_postgres_migrations()))

        let connection: Connection
        let name: [UInt8]
        let random: (Int) -> [UInt8]
        let now: Milliseconds

        /// The number of the store.
        ///
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        func store() throws -> Int64 {
            try Self.migrator.migrate(connection)
            let node = try Node(connection)
            _ = try connection.run([Query("BEGIN")])
            do {
                let store = try findOrMake(node)
                switch connection.commit(after: []) {
                case .committed: return store
                case .undone(let error), .indeterminate(let error): throw error
                }
            } catch {
                // NB: the first error is the one to tell; a transaction left open ends with its session.
                try? connection.rollBack()
                throw error
            }
        }

        private func findOrMake(_ node: Node) throws -> Int64 {
            let made = try connection.run(
                """
                INSERT INTO stores (name, token_key) VALUES ($1, $2)
                ON CONFLICT (name) DO NOTHING RETURNING store
                """, .bytes(name), .bytes(random(32)))
            if made.count == 1 {
                let store = made.number(0, 0)
                _ = try connection.run(firstRows(store, node))
                return store
            }
            let found = try connection.run(
                "SELECT store FROM stores WHERE name = $1", .bytes(name))
            guard found.count == 1 else { throw InvalidRow(table: "stores") }
            let store = found.number(0, 0)
            // Of processes that are long gone.
            _ = try connection.run(
                "DELETE FROM group_marks WHERE store = $1 AND committed_at < $2", .number(store),
                .number(now - Self.dayMilliseconds))
            return store
        }

        private func firstRows(_ store: Int64, _ node: Node) -> [Query] {
            let first = NextNumbers.first
            var schema = Schema()
            for (number, name) in [RecordTypeName.users, .share].enumerated() {
                schema.types[name] = Schema.builtInTypes[name]
                schema.types[name]?.number = Int64(number + 1)
            }
            return [
                Query(
                    """
                    INSERT INTO progress (store, last_position, schema_revision, life_count,
                        incarnation, cluster, timeline, next_owner, next_zone, next_record, next_type,
                        next_role, next_work, next_share, next_request, index_revision, next_index)
                    VALUES ($1, 0, 0, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $13)
                    """, .number(store), .number(random(7).reduce(0) { $0 << 8 | Int64($1) }),
                    .number(node.cluster), .number(node.timeline), .number(first.owner),
                    .number(first.zone), .number(first.record), .number(first.type),
                    .number(first.role), .number(first.work), .number(first.share),
                    .number(first.request), .number(first.index)),
                Query(
                    "INSERT INTO owners (store, owner, record_name) VALUES ($1, 0, $2)",
                    .number(store), .text(UserRecordName.publicOwner.text)),
            ] + SchemaChange.queries(store, schema)
        }
    }
#endif
