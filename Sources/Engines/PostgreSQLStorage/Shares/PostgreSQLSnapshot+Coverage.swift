#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // Which records shares cover, and what is still to be worked through.
    extension PostgreSQLSnapshot {
        func readMemberships(of records: [RecordNumber]) throws -> [CurrentMembership?] {
            guard !records.isEmpty else { return [] }
            return try memberships(ask([membershipsQuery(records)])[0], of: records.count)
        }

        func membershipsQuery(_ records: [RecordNumber]) -> Query {
            Query(
                """
                SELECT n.number, c.share, c.position
                FROM unnest($2::bigint[]) WITH ORDINALITY AS n (record, number)
                    JOIN current_memberships c ON c.store = $1 AND c.record = n.record
                    JOIN shares s ON s.store = $1 AND s.share = c.share AND s.ended IS NULL
                """, .number(store), .numbers(records.map(\.value)))
        }

        func memberships(_ rows: Rows, of count: Int) -> [CurrentMembership?] {
            var found = [CurrentMembership?](repeating: nil, count: count)
            for row in 0..<rows.count {
                found[Int(rows.number(row, 0)) - 1] = CurrentMembership(
                    share: ShareNumber(rows.number(row, 1)), position: rows.number(row, 2))
            }
            return found
        }

        private static let columns = """
            t.share, t.position, t.record, t.version, t.type, t.entered, t.left_through
            """
        private static let columnCount = 7
        private static let runBytesMax: Int64 = 1_048_576

        private static let memberships = """
            SELECT \(columns) FROM memberships t
            WHERE t.store = $1 AND t.share = $2 AND t.position > $3
            ORDER BY t.position LIMIT $4
            """

        /// A run ends at its bytes; one row alone may have more.
        private static let membershipsWithVersions = """
            SELECT * FROM (
                SELECT \(columns), \(VersionColumns.text),
                    sum(coalesce(octet_length(r.body), 0)) OVER (
                        ORDER BY t.position ROWS UNBOUNDED PRECEDING)
                        - coalesce(octet_length(r.body), 0) AS before
                FROM memberships t LEFT JOIN records r ON r.store = $1 AND r.record = t.record
                    AND t.left_through IS NULL AND r.position = t.version
                WHERE t.store = $1 AND t.share = $2 AND t.position > $3
                ORDER BY t.position LIMIT $4) AS page
            WHERE before < $5
            """

        /// Those of a viewer, one share after the other, up to the same bytes.
        private static let changedInShares = """
            SELECT * FROM (
                SELECT t.*, sum(coalesce(octet_length(t.body), 0)) OVER (
                    ORDER BY t.changed, t.granting, t.position ROWS UNBOUNDED PRECEDING)
                    - coalesce(octet_length(t.body), 0) AS before
                FROM (
                    SELECT \(columns), \(VersionColumns.text),
                        (g.granted <= $4 AND g.revoked IS NULL)::int, g.changed, g.share AS granting
                    FROM grants g
                        LEFT JOIN memberships t ON t.store = $1 AND t.share = g.share
                            AND t.position > $4
                        LEFT JOIN records r ON r.store = $1 AND r.record = t.record
                            AND t.left_through IS NULL AND r.position = t.version
                    WHERE g.store = $1 AND g.viewer = $2 AND g.zone = $3 AND g.changed > $4
                    ORDER BY g.changed, g.share, t.position LIMIT $5)
                    AS t (share, position, record, version, type, entered, left_through,
                        of_record, at, of_type, flags, checksum, zone, deleted_at, body, stands,
                        changed, granting)) AS page
            WHERE before < $6
            """

        func memberships(
            _ selections: [MembershipSelection], in zone: ZoneNumber
        ) throws -> [MembershipRun?] {
            guard !selections.isEmpty else { return [] }
            let answers = try ask(selections.map { query($0, zone) })
            return try zip(selections, answers).map { selection, rows in
                switch selection {
                case .share(_, _, let limit, let withVersions):
                    try memberships(rows, limit: limit, withVersions: withVersions)
                case .viewer(_, _, let limit): try changedMemberships(rows, limit: limit)
                }
            }
        }

        private func query(_ selection: MembershipSelection, _ zone: ZoneNumber) -> Query {
            switch selection {
            case .share(let share, let after, let limit, let withVersions):
                let key: [Value] = [
                    .number(store), .number(share.value), .number(after), .number(Int64(limit) + 1),
                ]
                return withVersions
                    ? Query(Self.membershipsWithVersions, key + [.number(Self.runBytesMax)])
                    : Query(Self.memberships, key)
            case .viewer(let viewer, let after, let limit):
                return Query(
                    Self.changedInShares, .number(store), .text(viewer.text), .number(zone.value),
                    .number(after), .number(Int64(limit) + 1), .number(Self.runBytesMax))
            }
        }

        private func memberships(
            _ rows: Rows, limit: Int, withVersions: Bool
        ) throws -> MembershipRun {
            let run = MembershipRun(limit: limit)
            var bytes: Int64 = 0
            for row in 0..<rows.count {
                guard run.hasRoom else { return run }
                do {
                    bytes += try append(rows, row, to: run, withVersion: withVersions)
                } catch let damaged as DamagedVersion {
                    guard !run.memberships.isEmpty else { throw damaged }
                    return run
                }
            }
            if rows.count <= limit, bytes < Self.runBytesMax { run.end() }
            return run
        }

        private func changedMemberships(_ rows: Rows, limit: Int) throws -> MembershipRun? {
            let run = MembershipRun(limit: limit)
            guard rows.count <= limit else { return nil }
            var bytes: Int64 = 0
            for row in 0..<rows.count {
                let stands = rows.number(row, Self.columnCount + VersionColumns.count) != 0
                guard run.hasRoom, stands else { return nil }
                // A grant may have changed without a membership.
                guard !rows.isNull(row, 0) else { continue }
                do {
                    bytes += try append(rows, row, to: run, withVersion: true)
                } catch is DamagedVersion {
                    // NB: who goes through the shares one by one gets as far as it.
                    return nil
                }
            }
            // Where its bytes have ended it, there may be more; the shares one by one have it in runs.
            guard bytes < Self.runBytesMax else { return nil }
            run.end()
            return run
        }

        /// - Returns: how many bytes the version has.
        private func append(
            _ rows: Rows, _ row: Int, to run: MembershipRun, withVersion: Bool
        ) throws -> Int64 {
            let membership = StoredMembership(
                share: ShareNumber(rows.number(row, 0)), position: rows.number(row, 1),
                record: RecordNumber(rows.number(row, 2)), version: rows.number(row, 3),
                type: rows.number(row, 4), entered: rows.number(row, 5),
                left: rows.optionalNumber(row, 6))
            guard withVersion, !rows.isNull(row, Self.columnCount) else {
                run.append(membership)
                return 0
            }
            return try VersionColumns.visit(rows, row, from: Self.columnCount) { zone, version in
                guard !version.isDamaged else {
                    throw DamagedVersion(zone: zone, position: version.position)
                }
                run.append(membership, version)
                return Int64(version.body.count)
            }
        }

        func readCoverageWork(_ keys: [CoverageWorkKey]) throws -> [Position?] {
            guard !keys.isEmpty else { return [] }
            let select = "SELECT m.since FROM share_work_marks m"
            let queries = keys.map { key in
                switch key {
                case .children(let record, let share):
                    Query(
                        "\(select) WHERE m.store = $1 AND m.share = $2 AND m.record = $3",
                        .number(store), .number(share.value), .number(record.value))
                case .share(let share):
                    Query(
                        "\(select) WHERE m.store = $1 AND m.share = $2 LIMIT 1", .number(store),
                        .number(share.value))
                case .zone(let zone):
                    Query(
                        """
                        \(select) JOIN work w ON w.store = $1 AND w.item = m.record
                        WHERE m.store = $1 AND w.kind = 1 AND w.subject = $2 LIMIT 1
                        """, .number(store), .number(zone.value))
                }
            }
            return try ask(queries).map { $0.count == 1 ? $0.number(0, 0) : nil }
        }
    }
#endif
