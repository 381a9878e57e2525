#if PostgreSQL
    import PostgreSQL
    import Storage
    import StoredRows

    /// Reads a store's rows in the form that every engine takes.
    ///
    /// Confined, as its connection, to one thread at a time.
    struct StoreRowReader {
        static let kinds = RowKind.store
        static let tables = kinds.map { RowTable($0) }

        private let connection: Connection
        private let store: Int64

        init(_ connection: Connection, _ store: Int64) {
            self.connection = connection
            self.store = store
        }

        /// The rows as the connection's transaction has them.
        func rows() throws -> CopiedRows {
            CopiedRows(of: Self.kinds, estimate: try estimate()) { try page($0, after: $1) }
        }

        /// About how many rows there are: as many as records.
        func estimate() throws -> Int64 {
            try connection.run(
                "SELECT coalesce(sum(record_count), 0)::bigint FROM current_zones WHERE store = $1",
                .number(store)
            ).number(0, 0)
        }

        func page(_ kind: Int, after key: [CopiedValue]?) throws -> [CopiedRow] {
            guard Self.kinds[kind].name != RowKind.ofStoreItself else {
                return key == nil ? [CopiedRow(kind: kind, try storeItself(kind))] : []
            }
            let table = Self.tables[kind]
            guard let rows = try connection.run([table.page(of: store, after: key)]).last else {
                return []
            }
            return try (0..<rows.count).map {
                CopiedRow(kind: kind, try table.values(of: rows, $0))
            }
        }

        /// The last row there is.
        func last() throws -> CopiedRow? {
            let others = Self.kinds.indices.filter {
                Self.kinds[$0].name != RowKind.ofStoreItself
            }
            let answers = try connection.run(others.map { Self.tables[$0].last(of: store) })
            for (kind, rows) in zip(others, answers).reversed() where rows.count > 0 {
                return CopiedRow(kind: kind, try Self.tables[kind].values(of: rows, 0))
            }
            return try page(0, after: nil).first
        }

        private func storeItself(_ kind: Int) throws -> [CopiedValue] {
            let rows = try connection.run(
                """
                SELECT p.incarnation, p.last_position, p.schema_revision, p.life_count,
                    p.subscription_revision, s.token_key, s.name, p.next_owner - 1,
                    p.next_zone - 1, p.next_record - 1, p.next_role - 1, p.next_work - 1,
                    p.next_share - 1, p.next_destination - 1, p.next_notice - 1
                FROM progress p JOIN stores s ON s.store = p.store WHERE p.store = $1
                """, .number(store))
            guard rows.count == 1 else { throw StorageFailure.missing }
            return try Self.tables[kind].values(of: rows, 0)
        }
    }
#endif
