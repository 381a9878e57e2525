#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What those are shown who follow the store.
    extension PostgreSQLSnapshot {
        func position(of follower: FollowerName) throws -> Position? {
            let rows = try ask(
                "SELECT position FROM followers WHERE store = $1 AND name = $2", .number(store),
                .text(follower.text))
            guard rows.count == 1 else { return nil }
            guard rows.number(0, 0) != Following.letGo else { throw FollowerFellBehind(follower) }
            return rows.number(0, 0)
        }

        private static let pageRowsMax = 500
        /// Where the columns of the version begin, of the one before the change, and of the one that the next kept.
        private static let (versionColumn, previousColumn, keptColumn) = (11, 19, 23)

        // A version that is not there any more was kept by the change after it, if at all.
        private static let page = """
            SELECT * FROM (
                SELECT c.position, c.kind, c.zone, c.record, c.record_type, c.was_alive, c.person,
                    c.author, c.device, c.trace, h.name, \(VersionColumns.text),
                    c.previous_position, c.previous_type, c.previous_flags, c.previous_body,
                    n.previous_position, n.previous_type, n.previous_flags, n.previous_body,
                    sum(w.bytes) OVER (ORDER BY c.position ROWS UNBOUNDED PRECEDING) - w.bytes
                        AS before
                FROM (
                    SELECT * FROM changes WHERE store = $1 AND position > $2
                    ORDER BY position LIMIT $3) c
                LEFT JOIN LATERAL (
                    SELECT * FROM records r WHERE r.store = $1 AND r.zone = c.zone
                        AND r.position = c.position OFFSET 0) r ON true
                LEFT JOIN LATERAL (
                    SELECT name FROM records h WHERE h.store = $1 AND h.record = c.record OFFSET 0
                    ) h ON true
                LEFT JOIN LATERAL (
                    SELECT * FROM changes n WHERE n.store = $1
                        AND n.previous_position = c.position OFFSET 0) n ON true
                CROSS JOIN LATERAL (
                    SELECT coalesce(octet_length(r.body), 0)
                        + coalesce(octet_length(c.previous_body), 0)
                        + coalesce(octet_length(n.previous_body), 0) AS bytes) w
            ) AS page (position, kind, zone, record, record_type, was_alive, person, author, device,
                trace, name, version_record, version_position, version_type, version_flags,
                version_checksum, version_zone, version_deleted, version_body, p1, p2, p3, p4,
                k1, k2, k3, k4, before)
            WHERE before < $4 ORDER BY position
            """

        func changes(
            after position: Position, limit: Int, _ visit: (FollowedChange) throws -> Bool
        ) throws -> Position? {
            var (last, left): (Position?, Int) = (nil, limit)
            while left > 0 {
                try checkStop()
                let rows = try ask(
                    Self.page, .number(store), .number(last ?? position),
                    .number(Int64(min(left, Self.pageRowsMax))),
                    .number(VersionColumns.pageBytesMax))
                guard rows.count > 0 else { return last }
                let goesOn = try visiting {
                    for row in 0..<rows.count {
                        last = rows.number(row, 0)
                        left -= 1
                        guard try Self.tell(rows, row, visit) else { return false }
                    }
                    return true
                }
                guard goesOn else { return last }
            }
            return last
        }

        /// Hands the change of a row to a closure, with its version if it is still there.
        private static func tell(
            _ rows: Rows, _ row: Int, _ visit: (FollowedChange) throws -> Bool
        ) throws -> Bool {
            guard !rows.isNull(row, 3) else { return try visit(change(rows, row, nil)) }
            guard !rows.isNull(row, versionColumn) else {
                return try visit(change(rows, row, version(rows, row, from: keptColumn)))
            }
            return try VersionColumns.visit(rows, row, from: versionColumn) { _, version in
                // NB: who follows hears of the change without what nobody can read.
                try visit(change(rows, row, version.isDamaged ? nil : version))
            }
        }

        private static func change(
            _ rows: Rows, _ row: Int, _ version: StoredVersion?
        ) throws -> FollowedChange {
            guard let kind = ChangeKind(rawValue: rows.number(row, 1)) else {
                throw InvalidRow(table: "changes")
            }
            return FollowedChange(
                position: rows.number(row, 0), kind: kind, zone: ZoneNumber(rows.number(row, 2)),
                record: rows.optionalNumber(row, 3).map { RecordNumber($0) },
                name: rows.isNull(row, 10) ? nil : RecordName(rows.text(row, 10)),
                person: rows.isNull(row, 6) ? nil : UserRecordName(rows.text(row, 6)),
                type: rows.optionalNumber(row, 4), wasAlive: rows.number(row, 5) != 0,
                author: author(rows, row), version: version,
                previous: self.version(rows, row, from: previousColumn))
        }

        private static func author(_ rows: Rows, _ row: Int) -> ChangeAuthor? {
            guard !rows.isNull(row, 7), let user = UserRecordName(rows.text(row, 7)) else {
                return nil
            }
            return ChangeAuthor(
                user: user, device: rows.isNull(row, 8) ? nil : rows.text(row, 8),
                trace: rows.isNull(row, 9) ? nil : rows.text(row, 9))
        }

        /// The version of which position, type, flags and body stand in four columns; nil for none.
        private static func version(
            _ rows: Rows, _ row: Int, from column: Int
        ) -> StoredVersion? {
            guard let record = rows.optionalNumber(row, 3), !rows.isNull(row, column) else {
                return nil
            }
            return StoredVersion(
                record: RecordNumber(record), position: rows.number(row, column),
                type: rows.number(row, column + 1),
                flags: VersionFlags(rawValue: rows.number(row, column + 2)),
                body: rows.bytes(row, column + 3))
        }
    }
#endif
