#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Removes what nobody can ask for any more, in bounded steps between other writes.
    ///
    /// Records of deleted zones go at once; tombstones, of records and of zones, after their retention.
    struct StoreCollection {
        private let transaction: PostgreSQLTransaction
        private var rowsLeft: Int

        init(_ transaction: PostgreSQLTransaction, rowsMax: Int) {
            self.transaction = transaction
            rowsLeft = rowsMax
        }

        /// - Returns: whether rows are left that could have been removed.
        func run(olderThan moment: Milliseconds) throws -> Bool {
            var step = self
            try step.purgeDeletedZones()
            try step.collectTombstones(olderThan: moment)
            try step.forgetZones(olderThan: moment)
            return step.rowsLeft <= 0
        }

        private var store: Value { .number(transaction.store) }

        /// Removes records that an inner statement names, with what they link to.
        private static func remove(_ victims: String) -> String {
            """
            WITH victims AS (\(victims)),
                gone AS (
                    DELETE FROM links l USING victims v WHERE l.store = $1 AND l.source = v.record)
            DELETE FROM records r USING victims v WHERE r.store = $1 AND r.record = v.record
            RETURNING r.zone, r.position
            """
        }

        private mutating func purgeDeletedZones() throws {
            while rowsLeft > 0 {
                let zones = try transaction.ask(
                    """
                    SELECT zone FROM zones
                    WHERE store = $1 AND deleted_at IS NOT NULL AND is_purged = 0 LIMIT 1
                    """, store)
                guard zones.count == 1 else { return }
                let zone = Value.number(zones.number(0, 0))
                let gone = try transaction.ask(
                    Self.remove(
                        """
                        SELECT record FROM records WHERE store = $1 AND zone = $2
                        ORDER BY position LIMIT $3
                        """), store, zone, .number(Int64(rowsLeft)))
                rowsLeft -= max(gone.count, 1)
                guard gone.count == 0 else { continue }
                _ = try transaction.ask([
                    Query("DELETE FROM client_tokens WHERE store = $1 AND zone = $2", store, zone),
                    Query(
                        """
                        UPDATE zones SET is_purged = 1, record_count = 0, body_bytes = 0,
                            asset_bytes = 0
                        WHERE store = $1 AND zone = $2
                        """, store, zone),
                ])
            }
        }

        private mutating func collectTombstones(olderThan moment: Milliseconds) throws {
            guard rowsLeft > 0 else { return }
            let gone = try transaction.ask(
                Self.remove(
                    """
                    SELECT record FROM records WHERE store = $1 AND deleted_at < $2
                    ORDER BY deleted_at, position LIMIT $3
                    """), store, .number(moment), .number(Int64(rowsLeft)))
            rowsLeft -= gone.count
            guard gone.count > 0 else { return }
            var last: [Int64: Position] = [:]
            for row in 0..<gone.count {
                last[gone.number(row, 0)] = max(last[gone.number(row, 0)] ?? 0, gone.number(row, 1))
            }
            _ = try transaction.ask(
                """
                UPDATE zones z SET whole_after = greatest(z.whole_after, n.position)
                FROM unnest($2::bigint[], $3::bigint[]) AS n (zone, position)
                WHERE z.store = $1 AND z.zone = n.zone
                """, store, .numbers(Array(last.keys)), .numbers(Array(last.values)))
        }

        /// Clients whose tokens are older than a zone's deletion must fetch its owner's zones again.
        private mutating func forgetZones(olderThan moment: Milliseconds) throws {
            guard rowsLeft > 0 else { return }
            let gone = try transaction.ask(
                """
                WITH victims AS (
                    SELECT zone FROM zones
                    WHERE store = $1 AND deleted_at < $2 AND is_purged = 1 LIMIT $3)
                DELETE FROM zones z USING victims v WHERE z.store = $1 AND z.zone = v.zone
                RETURNING z.owner, z.changed
                """, store, .number(moment), .number(Int64(rowsLeft)))
            rowsLeft -= gone.count
            for row in 0..<gone.count {
                _ = try transaction.ask(
                    """
                    UPDATE owners SET whole_after = greatest(whole_after, $3)
                    WHERE store = $1 AND owner = $2
                    """, store, .number(gone.number(row, 0)), .number(gone.number(row, 1)))
            }
        }
    }
#endif
