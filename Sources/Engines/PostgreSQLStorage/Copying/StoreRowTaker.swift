#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// Makes a store out of rows in the form that every engine takes; nobody can open it before the catalog has its name.
    ///
    /// Confined, as its connection, to one thread at a time.
    final class StoreRowTaker {
        private let connection: Connection
        private let creation: StoreCreation
        /// What the store is found by until then.
        private let label: [UInt8]
        /// Nil while there is none.
        private var store: Int64?

        /// Finds what an earlier call has brought in, once no session is left that does.
        ///
        /// - Throws: `PostgreSQLError`.
        init(_ key: StoreKey, _ creation: StoreCreation) throws {
            self.creation = creation
            connection = creation.connection
            label = StoreCreation.label(of: key)
            // Of a process that was killed, the last batch may still be on its way.
            _ = try connection.run([
                Query("SET lock_timeout = '60s'"),
                Query("SELECT pg_advisory_lock(\(NameTurn.lock))", .bytes(label)),
            ])
            let rows = try connection.run(
                "SELECT store FROM stores WHERE label = $1 AND removed_at IS NULL",
                .bytes(label))
            store = rows.count == 1 ? rows.number(0, 0) : nil
        }

        func taking() throws -> TakenRows {
            TakenRows(
                rows: CopiedRows(of: StoreRowReader.kinds, estimate: 0) { kind, key in
                    try self.reader?.page(kind, after: key) ?? []
                },
                last: { try self.reader?.last() },
                append: { try self.append($0) },
                clear: { try self.clear() })
        }

        private var reader: StoreRowReader? { store.map { StoreRowReader(connection, $0) } }

        private func append(_ rows: [CopiedRow]) throws {
            let previous = store
            do {
                try creation.transaction {
                    var rest = rows[...]
                    while let kind = rest.first?.kind {
                        let some = rest.prefix { $0.kind == kind }.map(\.values)
                        rest = rest.dropFirst(some.count)
                        try take(some, kind)
                    }
                }
            } catch {
                store = previous
                throw error
            }
        }

        private func take(_ rows: [[CopiedValue]], _ kind: Int) throws {
            guard StoreRowReader.kinds[kind].name != RowKind.ofStoreItself else {
                return try rows.forEach(takeStoreItself)
            }
            guard let store else { throw InvalidRow(table: StoreRowReader.kinds[kind].name) }
            let table = StoreRowReader.tables[kind]
            _ = try connection.run(
                [try table.adding(rows, to: store)] + counting(rows, kind, store))
        }

        /// What the store's row in `progress` counts, and other engines do not.
        private func counting(
            _ rows: [[CopiedValue]], _ kind: Int, _ store: Int64
        ) -> [Query] {
            let change: (text: String, number: Int64?)
            switch StoreRowReader.kinds[kind].name {
            case "record_types":
                change = ("next_type = greatest(next_type, $2 + 1)", rows.last?.first?.integer)
            case "access_requests":
                change = (
                    "next_request = greatest(next_request, $2 + 1)", rows.last?.first?.integer
                )
            case "followers": change = ("follower_revision = $2", 1)
            case "changes": change = ("changes_kept = changes_kept + $2", Int64(rows.count))
            default: return []
            }
            return [
                Query(
                    "UPDATE progress SET \(change.text) WHERE store = $1", .number(store),
                    .number(change.number))
            ]
        }

        private func takeStoreItself(_ values: [CopiedValue]) throws {
            let numbers = values.map { $0.integer ?? 0 }
            guard store == nil, values.count == 15, let tokenKey = values[5].bytes,
                let name = values[6].bytes
            else { throw InvalidRow(table: RowKind.ofStoreItself) }
            // One that was removed may have had the name, where it comes back to a server that it has left.
            _ = try connection.run(
                "UPDATE stores SET name = $2 WHERE name = $1 AND removed_at IS NOT NULL",
                .bytes(name), .bytes(creation.random(16)))
            let made = try StoreCreation.insert(
                named: name, tokenKey: tokenKey, label: label, creation.random, connection)
            let node = try connection.node()
            let first = NextNumbers.first
            let next = numbers.map { $0 + 1 }
            _ = try connection.run(
                """
                INSERT INTO progress (store, incarnation, last_position, schema_revision, life_count,
                    subscription_revision, next_owner, next_zone, next_record, next_role, next_work,
                    next_share, next_destination, next_notice, cluster, timeline, next_type,
                    next_request, index_revision, next_index)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                    $18, 0, $19)
                """, .number(made), .number(numbers[0]), .number(numbers[1]), .number(numbers[2]),
                .number(numbers[3]), .number(numbers[4]), .number(next[7]), .number(next[8]),
                .number(next[9]), .number(next[10]), .number(next[11]), .number(next[12]),
                .number(next[13]), .number(next[14]), .number(node.cluster),
                .number(node.timeline), .number(first.type), .number(first.request),
                .number(first.index))
            store = made
        }

        private func clear() throws {
            guard let store else { return }
            try creation.transaction { try creation.abandon(label: label) }
            self.store = nil
            try RemovedStores(connection, now: creation.now).removeRows(of: store)
        }
    }
#endif
