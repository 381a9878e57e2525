#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// What is shared in a zone.
    struct ZoneSharing: OptionSet {
        let rawValue: Int64
        /// Something is.
        static let shares = ZoneSharing(rawValue: 1)
        /// Something is shared as a tree, or what shares cover is still worked on.
        static let trees = ZoneSharing(rawValue: 2)
    }

    /// Rows of owners and zones, and the questions that lead to them.
    enum ZoneRows {
        /// The zones `z` that live under the names of owners and zones in `n`.
        static let byNames = """
            CROSS JOIN LATERAL (
                    SELECT * FROM owners o
                    WHERE o.store = $1 AND o.record_name = n.owner OFFSET 0) o
                CROSS JOIN LATERAL (
                    SELECT * FROM zones z WHERE z.store = $1 AND z.owner = o.owner
                        AND z.name = n.zone AND z.deleted_at IS NULL OFFSET 0) z
            """
        static let ownerColumns = "o.owner, o.record_name, o.used_bytes, o.whole_after"
        static let ownerColumnCount = 4
        static let columns = """
            z.zone, z.owner, z.name, z.created, z.changed, z.whole_after,
            (z.deleted_at IS NOT NULL)::int
            """
        static let columnCount = 7
        /// What is shared in a zone, as `ZoneSharing` has it.
        ///
        /// One share at most is of the whole zone, so of two one is of a tree.
        static let sharing = """
            (coalesce((
                SELECT max(CASE WHEN s.root IS NULL THEN 1 ELSE 3 END) FROM (
                    SELECT h.root FROM shares h
                    WHERE h.store = z.store AND h.zone = z.zone AND h.ended IS NULL LIMIT 2) s), 0)
                | 2 * EXISTS (
                    SELECT 1 FROM work w
                    WHERE w.store = z.store AND w.kind = 1 AND w.subject = z.zone)::int)::bigint
            """

        static func ownerQuery(_ store: Int64, _ key: OwnerKey) -> Query {
            switch key {
            case .name(let name): ownerQuery(store, name)
            case .number(let number): ownerQuery(store, number)
            }
        }

        static func zoneQuery(_ store: Int64, _ key: ZoneKey) -> Query {
            switch key {
            case .number(let number): zoneQuery(store, number)
            case .name(let name, let owner): zoneQuery(store, name, of: owner)
            case .nameOfOwner(let name, let owner): zoneQuery(store, name, ofOwnerNamed: owner)
            }
        }

        private static func ownerQuery(_ store: Int64, _ name: UserRecordName) -> Query {
            Query(
                "SELECT \(ownerColumns) FROM current_owners o WHERE o.store = $1 AND o.record_name = $2",
                .number(store), .text(name.text))
        }

        private static func ownerQuery(_ store: Int64, _ number: OwnerNumber) -> Query {
            Query(
                "SELECT \(ownerColumns) FROM current_owners o WHERE o.store = $1 AND o.owner = $2",
                .number(store), .number(number.value))
        }

        private static func zoneQuery(_ store: Int64, _ number: ZoneNumber) -> Query {
            Query(
                "SELECT \(columns) FROM current_zones z WHERE z.store = $1 AND z.zone = $2",
                .number(store), .number(number.value))
        }

        private static func zoneQuery(
            _ store: Int64, _ name: ZoneName, of owner: OwnerNumber
        ) -> Query {
            Query(
                """
                SELECT \(columns) FROM current_zones z
                WHERE z.store = $1 AND z.owner = $2 AND z.name = $3 AND z.deleted_at IS NULL
                """, .number(store), .number(owner.value), .text(name.text))
        }

        private static func zoneQuery(
            _ store: Int64, _ name: ZoneName, ofOwnerNamed owner: UserRecordName
        ) -> Query {
            Query(
                """
                SELECT \(columns) FROM owners o CROSS JOIN LATERAL (
                    SELECT * FROM current_zones z WHERE z.store = $1 AND z.owner = o.owner
                        AND z.name = $3 AND z.deleted_at IS NULL OFFSET 0) z
                WHERE o.store = $1 AND o.record_name = $2
                """, .number(store), .text(owner.text), .text(name.text))
        }

        /// Zones of an owner that have changed after a position, some at a time in the order of their last changes.
        static let changedText = """
            WITH recent AS (
                SELECT DISTINCT zone FROM waiting_sums WHERE store = $1 AND owner = $2 AND zone <> 0)
            SELECT \(columns) FROM (
                (SELECT store, zone, owner, name, created, changed, whole_after, deleted_at FROM zones
                WHERE store = $1 AND owner = $2 AND changed > $3
                    AND zone NOT IN (SELECT zone FROM recent)
                ORDER BY changed LIMIT $4)
                UNION ALL
                SELECT z.store, z.zone, z.owner, z.name, z.created, z.changed, z.whole_after,
                    z.deleted_at
                FROM recent n CROSS JOIN LATERAL (
                    SELECT * FROM current_zones z
                    WHERE z.store = $1 AND z.zone = n.zone AND z.changed > $3 OFFSET 0) z) z
            ORDER BY z.changed LIMIT $4
            """

        static func owner(_ rows: Rows, _ row: Int, from column: Int = 0) -> StoredOwner {
            StoredOwner(
                number: OwnerNumber(rows.number(row, column)),
                recordName: rows.text(row, column + 1), usedBytes: rows.number(row, column + 2),
                oldestValidPosition: rows.number(row, column + 3))
        }

        static func zone(_ rows: Rows, _ row: Int, from column: Int = 0) throws -> StoredZone {
            guard let name = ZoneName(rows.text(row, column + 2)) else {
                throw InvalidRow(table: "zones")
            }
            return StoredZone(
                number: ZoneNumber(rows.number(row, column)),
                owner: OwnerNumber(rows.number(row, column + 1)), name: name,
                created: rows.number(row, column + 3),
                changed: rows.number(row, column + 4).unlessUnset,
                oldestValidPosition: rows.number(row, column + 5),
                isDeleted: rows.number(row, column + 6) != 0)
        }
    }
#endif
