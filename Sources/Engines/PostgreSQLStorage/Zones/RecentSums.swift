#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// How a group's sums come to their zones and owners.
    ///
    /// The rows of an owner and of their zones are written once a second; what groups add meanwhile waits in `recent_sums`,
    /// a row each. While somebody keeps a snapshot open, a row has a version for each of its updates, and every group looks
    /// at all of them.
    struct RecentSums {
        /// How long after their rows were written what is added to an owner waits.
        static let waitMilliseconds: Milliseconds = 1_000

        let store: Int64
        /// The group's among all of the store.
        let number: Int64
        let now: Milliseconds

        /// When an owner's rows were last written, and whether sums wait for being added to them.
        struct Counting {
            var countedAt: Milliseconds
            var hasWaiting: Bool
        }

        /// The statements that bring sums where they belong.
        ///
        /// - Parameter countings: what is known of owners; those of whom nothing is are taken to have sums that wait.
        func queries(
            _ sums: ZoneSums, _ countings: [OwnerNumber: Counting]
        ) -> [Query] {
            let waiting = sums.owners.keys.filter { owner in
                countings[owner].map { isRecent($0) } ?? false
            }
            let (later, now) = sums.parted(Set(waiting))
            let settled = now.owners.keys.filter { countings[$0]?.hasWaiting ?? true }
            return (later.isEmpty ? [] : [wait(later)])
                + (settled.isEmpty ? [] : [settle(settled)])
                + (now.isEmpty ? [] : [addToZones(now), addToOwners(now)])
        }

        private func isRecent(_ counting: Counting) -> Bool {
            // A clock may have been put back.
            abs(now - counting.countedAt) < Self.waitMilliseconds
        }

        /// What is known of the owners afterwards.
        func noted(
            _ sums: ZoneSums, _ countings: [OwnerNumber: Counting]
        ) -> [OwnerNumber: Counting] {
            var noted = countings
            for owner in sums.owners.keys {
                if let counting = countings[owner], isRecent(counting) {
                    noted[owner]?.hasWaiting = true
                } else {
                    noted[owner] = Counting(countedAt: now, hasWaiting: false)
                }
            }
            return noted
        }

        private static let waitText = """
            INSERT INTO recent_sums AS r
                (store, owner, number, zone, changed, records, bytes, asset_bytes)
            SELECT $1, z.owner, $2, z.zone, n.changed, n.records, n.bytes, n.assets
            FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
                AS n (zone, changed, records, bytes, assets)
                CROSS JOIN LATERAL (
                    SELECT * FROM zones z WHERE z.store = $1 AND z.zone = n.zone OFFSET 0) z
            UNION ALL
            SELECT $1, o.owner, $2, 0, 0, 0, n.bytes, 0
            FROM unnest($8::bigint[], $9::bigint[]) AS n (owner, bytes)
                CROSS JOIN LATERAL (
                    SELECT * FROM owners o WHERE o.store = $1 AND o.owner = n.owner OFFSET 0) o
            ON CONFLICT (store, owner, number, zone) DO UPDATE SET
                changed = greatest(r.changed, excluded.changed),
                records = r.records + excluded.records, bytes = r.bytes + excluded.bytes,
                asset_bytes = r.asset_bytes + excluded.asset_bytes
            """

        private func wait(_ sums: ZoneSums) -> Query {
            .requiring(
                sums.zones.count + sums.owners.count, Self.waitText,
                [.number(store), .number(number)] + sums.zoneArrays + sums.ownerArrays)
        }

        /// What becomes of a zone's row `z` by the sums `n`; a deleted zone has changed last when it was deleted.
        private static let added = """
            changed = CASE WHEN z.deleted_at IS NULL AND z.changed > 0
                THEN greatest(z.changed, n.changed) ELSE z.changed END,
            record_count = z.record_count + n.records, body_bytes = z.body_bytes + n.bytes,
            asset_bytes = z.asset_bytes + n.assets
            """

        /// Adds what waits; the group's own sums wait for the next time.
        private static let settleText = """
            WITH due AS (
                    SELECT o.owner, o.counted FROM owners o
                    WHERE o.store = $1 AND o.owner = ANY ($2)),
                gone AS (
                    DELETE FROM recent_sums r USING due d
                    WHERE r.store = $1 AND r.owner = d.owner AND r.number > d.counted
                        AND r.number < $3
                    RETURNING r.*),
                added AS (
                    UPDATE zones z SET \(added)
                    FROM (SELECT zone, max(changed) AS changed, sum(records)::bigint AS records,
                            sum(bytes)::bigint AS bytes, sum(asset_bytes)::bigint AS assets
                        FROM gone WHERE zone <> 0 GROUP BY zone) n
                    WHERE z.store = $1 AND z.zone = n.zone)
            UPDATE owners o SET counted = $3 - 1, counted_at = $4, used_bytes = o.used_bytes
                + coalesce((SELECT sum(g.bytes)::bigint FROM gone g
                    WHERE g.owner = o.owner AND g.zone = 0), 0)
            WHERE o.store = $1 AND o.owner = ANY ($2)
            """

        /// Adds what groups before this one have left waiting to the owners and their zones.
        func settle(_ owners: [OwnerNumber]) -> Query {
            Query(
                Self.settleText, .number(store), .numbers(owners.map(\.value)), .number(number),
                .number(now))
        }

        private func addToZones(_ sums: ZoneSums) -> Query {
            .requiring(
                sums.zones.count,
                """
                UPDATE zones z SET \(Self.added)
                FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
                    AS n (zone, changed, records, bytes, assets)
                WHERE z.store = $1 AND z.zone = n.zone
                """, [.number(store)] + sums.zoneArrays)
        }

        private func addToOwners(_ sums: ZoneSums) -> Query {
            .requiring(
                sums.owners.count,
                """
                UPDATE owners o SET used_bytes = o.used_bytes + n.bytes, counted_at = $4
                FROM unnest($2::bigint[], $3::bigint[]) AS n (owner, bytes)
                WHERE o.store = $1 AND o.owner = n.owner
                """, [.number(store)] + sums.ownerArrays + [.number(now)])
        }
    }
#endif
