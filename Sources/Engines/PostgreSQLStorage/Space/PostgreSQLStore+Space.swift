#if PostgreSQL
    import CloudModel
    import IndexedQueries
    import PostgreSQL
    import Storage
    import StoredRows

    extension PostgreSQLStore {
        /// What a record takes beside its body, with what leads to it, about.
        private static let bytesPerRecord: Int64 = 320

        package func size(owners ownersMax: Int, counting: StoreCounting) throws -> StoreSize {
            try looking { snapshot in
                let amount = try amount(snapshot)
                return StoreSize(
                    space: space(amount), amount: amount,
                    owners: ownersMax > 0 ? try largestOwners(snapshot, limit: ownersMax) : [],
                    counts: counting.contains(.contents) ? try counts(snapshot) : nil,
                    indexes: counting.contains(.indexes) ? try indexSizes(snapshot) : [])
            }
        }

        /// The server gives back by itself what holds nothing.
        package func giveBackSpace(while goesOn: (StoreSpace) -> Bool) throws {}

        /// All stores lie in the same tables: so it is reckoned.
        private func space(_ amount: StoredAmount) -> StoreSpace {
            StoreSpace(
                bytes: amount.recordBytes + amount.records * Self.bytesPerRecord, freeBytes: 0)
        }

        private func amount(_ snapshot: PostgreSQLSnapshot) throws -> StoredAmount {
            let rows = try snapshot.ask(
                """
                SELECT coalesce(sum(record_count), 0)::bigint, coalesce(sum(body_bytes), 0)::bigint,
                    coalesce(sum(asset_bytes), 0)::bigint
                FROM current_zones WHERE store = $1 AND deleted_at IS NULL
                """, .number(number))
            return StoredAmount(rows, 0, from: 0)
        }

        private func counts(_ snapshot: PostgreSQLSnapshot) throws -> StoreCounts {
            let rows = try snapshot.ask(
                """
                SELECT
                    (SELECT count(*) FROM asset_files
                        WHERE store = $1 AND unused_since IS NULL),
                    (SELECT count(*) FROM records WHERE store = $1 AND deleted_at IS NOT NULL),
                    (SELECT count(DISTINCT owner) FROM zones
                        WHERE store = $1 AND deleted_at IS NULL AND owner <> 0)
                """, .number(number))
            return StoreCounts(
                assets: rows.number(0, 0), tombstones: rows.number(0, 1),
                users: rows.number(0, 2))
        }

        /// How far each index has come, and how many entries it has.
        private func indexSizes(_ snapshot: PostgreSQLSnapshot) throws -> [IndexSize] {
            let names = Dictionary(
                try snapshot.schema.types.map { ($0.value.number, $0.key.text) },
                uniquingKeysWith: { $1 })
            let progress = try snapshot.progress()
            let rows = try snapshot.ask([IndexRows.query(number)])
            let found = try IndexRows.read(progress.revision(\.indexRevision), rows[0])
            let known = found.catalog.all.filter { names[$0.type] != nil }
                .sorted { $0.number < $1.number }
            let counts = try snapshot.ask(known.map { entriesQuery($0) })
            return zip(known, counts).compactMap { index, count in
                names[index.type].map { type in
                    index.size(
                        ofType: type, lastRecord: progress.next.record - 1,
                        entries: index.countsEntries ? count.number(0, 0) : nil)
                }
            }
        }

        /// As many as there are, up to the bound; of words and locations none is looked at.
        private func entriesQuery(_ index: StoredIndex) -> Query {
            Query(
                """
                SELECT count(*) FROM (
                    SELECT 1 FROM index_values WHERE store = $1 AND index = ANY ($2) LIMIT $3) entries
                """, .number(number), .numbers([index.number, -index.number]),
                .number(index.countsEntries ? IndexSize.entriesMax : 0))
        }

        private func largestOwners(
            _ snapshot: PostgreSQLSnapshot, limit: Int
        ) throws -> [OwnerAmount] {
            let rows = try snapshot.ask(
                """
                SELECT o.record_name, sum(z.record_count)::bigint, sum(z.body_bytes)::bigint,
                    sum(z.asset_bytes)::bigint
                FROM current_owners o JOIN current_zones z ON z.store = $1 AND z.owner = o.owner
                WHERE o.store = $1 AND z.deleted_at IS NULL
                GROUP BY o.owner, o.record_name, o.used_bytes
                ORDER BY o.used_bytes DESC, o.owner LIMIT $2
                """, .number(number), .number(Int64(limit)))
            return try (0..<rows.count).map { row in
                guard let owner = StoredOwner.name(rows.text(row, 0)) else {
                    throw InvalidRow(table: "owners")
                }
                return OwnerAmount(owner: owner, amount: StoredAmount(rows, row, from: 1))
            }
        }

        private func looking<Value>(_ body: (PostgreSQLSnapshot) throws -> Value) throws -> Value {
            try read { snapshot in
                guard let snapshot = snapshot as? PostgreSQLSnapshot else {
                    throw InvalidRow(table: "zones")
                }
                return try body(snapshot)
            }
        }
    }

    extension StoredAmount {
        fileprivate init(_ rows: Rows, _ row: Int, from column: Int) {
            self.init(
                records: rows.number(row, column), recordBytes: rows.number(row, column + 1),
                assetBytes: rows.number(row, column + 2))
        }
    }
#endif
