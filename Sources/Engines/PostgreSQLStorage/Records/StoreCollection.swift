#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Removes what nobody can ask for any more, in bounded steps between other writes.
    ///
    /// Records of deleted zones go at once; tombstones, of records and of zones, after their retention.
    struct StoreCollection {
        let transaction: PostgreSQLTransaction
        var rowsLeft: Int

        init(_ transaction: PostgreSQLTransaction, rowsMax: Int) {
            self.transaction = transaction
            rowsLeft = rowsMax
        }

        /// - Returns: whether rows are left that could have been removed.
        func run(olderThan moment: Milliseconds) throws -> Bool {
            var step = self
            try step.purgeDeletedZones()
            try step.collectShares(olderThan: moment)
            try step.collectTombstones(olderThan: moment)
            try step.forgetZones(olderThan: moment)
            try step.forgetReceipts()
            try step.forgetChanges()
            if step.rowsLeft > 0 { try step.settleSums() }
            return step.rowsLeft <= 0
        }

        /// Removes what is left of an owner's deleted zones whose records are gone.
        ///
        /// - Returns: whether there is more.
        func run(zonesOf owner: OwnerNumber) throws -> Bool {
            var step = self
            try step.forgetZones(of: owner)
            return step.rowsLeft <= 0
        }

        var store: Value { .number(transaction.store) }

        /// Removes records that an inner statement names, with all that hangs on them.
        ///
        /// - Parameter now: the number of the parameter that is the moment.
        private static func remove(_ victims: String, now: Int) -> String {
            """
            WITH victims AS (\(victims)),
                linked AS (
                    DELETE FROM links l USING victims v WHERE l.store = $1 AND l.source = v.record),
                named AS (
                    DELETE FROM short_guids g USING victims v
                    WHERE g.store = $1 AND g.record = v.record),
                held AS (
                    DELETE FROM asset_uses u USING victims v
                    WHERE u.store = $1 AND u.record = v.record RETURNING u.digest),
                counted AS (SELECT digest, count(*) AS uses FROM held GROUP BY digest),
                released AS (
                    UPDATE asset_files f SET references_held = references_held - c.uses,
                        unused_since = CASE WHEN references_held = c.uses THEN $\(now) END
                    FROM counted c WHERE f.store = $1 AND f.digest = c.digest)
            DELETE FROM records r USING victims v WHERE r.store = $1 AND r.record = v.record
            RETURNING r.zone, r.position
            """
        }

        /// Adds what waits to zones and owners that nobody writes to any more, once all else is done.
        private func settleSums() throws {
            let owners = try transaction.ask(
                "SELECT DISTINCT owner FROM recent_sums WHERE store = $1 LIMIT $2", store,
                .number(Self.settledMax))
            guard owners.count > 0 else { return }
            _ = try transaction.ask([
                transaction.group.recentSums.settle(
                    (0..<owners.count).map { OwnerNumber(owners.number($0, 0)) })
            ])
        }

        /// Owners of one run; the others have their turn an hour later.
        private static let settledMax: Int64 = 1_000

        /// Forgets changes that nobody waits for, of which a write forgets some only.
        private mutating func forgetChanges() throws {
            guard rowsLeft > 0 else { return }
            let gone = try transaction.ask([
                ChangeLog.forget(
                    transaction.store, page: transaction.group.facts.progressPage,
                    atMost: rowsLeft)
            ])
            // However few they were, their bodies may be all that a step should remove.
            if gone[0].number(0, 0) > 0 { rowsLeft = 0 }
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
                let entries = IndexFilling(transaction: transaction, recordsMax: rowsLeft)
                rowsLeft -= try entries.clear(ZoneNumber(zones.number(0, 0)))
                guard rowsLeft > 0 else { return }
                try purgeShares(of: zone)
                guard rowsLeft > 0 else { return }
                let gone = try transaction.ask(
                    Self.remove(
                        """
                        SELECT record FROM records WHERE store = $1 AND zone = $2
                        ORDER BY position LIMIT $3
                        """, now: 4), store, zone, .number(Int64(rowsLeft)),
                    .number(transaction.now))
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
                    """, now: 4), store, .number(moment), .number(Int64(rowsLeft)),
                .number(transaction.now))
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
            try forgetZones("deleted_at < $3", .number(moment))
        }

        private mutating func forgetZones(of owner: OwnerNumber) throws {
            let zones = try transaction.ask(
                """
                SELECT zone FROM zones WHERE store = $1 AND owner = $2 AND is_purged = 1 LIMIT $3
                """, store, .number(owner.value), .number(Int64(rowsLeft)))
            for row in 0..<zones.count where rowsLeft > 0 {
                try forgetViews("zone = $3", .number(zones.number(row, 0)))
            }
            guard rowsLeft > 0 else { return }
            try forgetZones("owner = $3", .number(owner.value))
        }

        private mutating func forgetZones(_ condition: String, _ value: Value) throws {
            let gone = try transaction.ask(
                """
                WITH gone AS (
                    DELETE FROM zones WHERE store = $1 AND zone IN (
                        SELECT zone FROM zones
                        WHERE store = $1 AND is_purged = 1 AND \(condition) LIMIT $2)
                    RETURNING owner, changed),
                    last AS (SELECT owner, max(changed) AS changed FROM gone GROUP BY owner),
                    told AS (
                        UPDATE owners o SET whole_after = greatest(o.whole_after, l.changed)
                        FROM last l WHERE o.store = $1 AND o.owner = l.owner)
                SELECT count(*) FROM gone
                """, store, .number(Int64(rowsLeft)), value)
            rowsLeft -= Int(gone.number(0, 0))
        }

        private mutating func forgetReceipts() throws {
            try remove(
                "asset_receipts", "id", "SELECT id FROM asset_receipts WHERE expires < $3",
                .number(transaction.now))
        }

        /// Removes rows that a condition names, as far as there is room.
        ///
        /// - Parameter victims: names them by their keys; its third parameter is the value.
        mutating func remove(
            _ table: String, _ key: String, _ victims: String, _ value: Value
        ) throws {
            guard rowsLeft > 0 else { return }
            let gone = try transaction.ask(
                """
                DELETE FROM \(table) WHERE store = $1 AND (\(key)) IN (
                    \(victims) AND store = $1 LIMIT $2)
                """, store, .number(Int64(rowsLeft)), value)
            rowsLeft -= gone.changeCount
        }
    }
#endif
