#if PostgreSQL
    import CatalogSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // Who takes part in what, and what viewers have.
    extension PostgreSQLSnapshot {
        func readShares(_ keys: ShareKeys) throws -> [StoredShare?] {
            switch keys {
            case .numbers(let numbers):
                return try shares(numbers.map(\.value), "s.share = n.key")
            case .roots(let roots):
                return try shares(roots.map(\.value), Self.ofRoot)
            case .records(let records):
                return try shares(records.map(\.value), Self.ofRecord)
            case .rootsOrRecords(let records):
                guard !records.isEmpty else { return [] }
                return try ownShares(ask(ownQueries(records)), of: records.count)
            case .zones(let zones, let limit, let ofEach):
                guard !zones.isEmpty else { return [] }
                let rows = try ask(
                    """
                    SELECT \(ShareColumns.share)
                    FROM unnest($2::bigint[]) WITH ORDINALITY AS n (zone, number)
                        CROSS JOIN LATERAL (
                            SELECT * FROM shares h
                            WHERE h.store = $1 AND h.zone = n.zone AND h.ended IS NULL
                            LIMIT $3) s
                    ORDER BY n.number LIMIT $4
                    """, .number(store), .numbers(zones.map(\.value)), .number(Int64(ofEach)),
                    .number(Int64(limit)))
                return try rows.all { try StoredShare(row: $0) }
            }
        }

        /// The shares of which records are the roots, and those of which they are the share records.
        func ownQueries(_ records: [RecordNumber]) -> [Query] {
            [Self.ofRoot, Self.ofRecord].map { query(records.map(\.value), $0) }
        }

        /// What the answers to `ownQueries` say.
        func ownShares(_ answers: [Rows], of count: Int) throws -> [StoredShare?] {
            let found = try answers.map { try shares($0, of: count) }
            return (0..<count).map { index in found.lazy.compactMap { $0[index] }.first }
        }

        private static let ofRoot = "s.root = n.key AND s.ended IS NULL"
        private static let ofRecord = "s.record = n.key AND s.ended IS NULL"

        private func query(_ keys: [Int64], _ condition: String) -> Query {
            Query(
                """
                SELECT n.number, \(ShareColumns.share)
                FROM unnest($2::bigint[]) WITH ORDINALITY AS n (key, number)
                    JOIN shares s ON s.store = $1 AND \(condition)
                """, .number(store), .numbers(keys))
        }

        private func shares(_ keys: [Int64], _ condition: String) throws -> [StoredShare?] {
            guard !keys.isEmpty else { return [] }
            return try shares(ask([query(keys, condition)])[0], of: keys.count)
        }

        private func shares(_ rows: Rows, of count: Int) throws -> [StoredShare?] {
            var found = [StoredShare?](repeating: nil, count: count)
            for row in 0..<rows.count {
                found[Int(rows.number(row, 0)) - 1] = try StoredShare(
                    row: PostgreSQLCatalogRow(rows: rows, row: row), from: 1)
            }
            return found
        }

        func participants(
            _ keys: [ParticipantKey]
        ) throws -> [[(ShareNumber, StoredParticipant)]] {
            guard !keys.isEmpty else { return [] }
            return try ask(keys.map(query)).map { try $0.all(ParticipantRow.participant) }
        }

        private func query(_ key: ParticipantKey) -> Query {
            let select = "SELECT \(ShareColumns.participant) FROM participants p"
            let standing = "JOIN shares s ON s.store = $1 AND s.share = p.share AND s.ended IS NULL"
            return switch key {
            case .share(let share):
                Query(
                    "\(select) WHERE p.store = $1 AND p.share = $2", .number(store),
                    .number(share.value))
            case .user(let user):
                Query(
                    "\(select) \(standing) WHERE p.store = $1 AND p.user_record_name = $2",
                    .number(store), .text(user.text))
            case .address(let address):
                Query(
                    "\(select) \(standing) WHERE p.store = $1 AND p.address = $2",
                    .number(store), .text(address))
            }
        }

        func accessRequests(_ keys: [AccessRequestKey]) throws -> [[StoredAccessRequest]] {
            guard !keys.isEmpty else { return [] }
            return try ask(keys.map(query)).map { try $0.all(StoredAccessRequest.init(row:)) }
        }

        private func query(_ key: AccessRequestKey) -> Query {
            let select = "SELECT user_record_name, made_at, state FROM access_requests"
            return switch key {
            case .share(let share):
                Query(
                    """
                    \(select) WHERE store = $1 AND share = $2 AND state <> 0
                    ORDER BY made_at, request
                    """, .number(store), .number(share.value))
            case .user(let user, let moment):
                Query(
                    """
                    \(select) WHERE store = $1 AND user_record_name = $2 AND made_at > $3
                    ORDER BY made_at, request
                    """, .number(store), .text(user.text), .number(moment))
            }
        }

        func shortGUIDs(_ keys: [ShortGUIDKey]) throws -> [StoredShortGUID?] {
            guard !keys.isEmpty else { return [] }
            let select = "SELECT record, value FROM short_guids WHERE store = $1"
            let queries = keys.map { key in
                switch key {
                case .record(let record):
                    Query("\(select) AND record = $2", .number(store), .number(record.value))
                case .value(let value):
                    Query("\(select) AND value = $2", .number(store), .text(value))
                }
            }
            return try ask(queries).map { rows in
                guard rows.count == 1 else { return nil }
                return StoredShortGUID(
                    record: RecordNumber(rows.number(0, 0)), value: rows.text(0, 1))
            }
        }

        func readGrants(_ keys: [GrantKey]) throws -> [[StoredGrant]] {
            guard !keys.isEmpty else { return [] }
            return try ask(keys.map(query)).map { try $0.all(StoredGrant.init(row:)) }
        }

        private func query(_ key: GrantKey) -> Query {
            let viewer: [Value] = [.number(store), .text(key.viewer.text)]
            return switch key.selection {
            case .shares(let shares):
                Query(
                    """
                    SELECT \(ShareColumns.grant)
                    FROM unnest($3::bigint[]) WITH ORDINALITY AS n (share, number)
                        JOIN grants g ON g.store = $1 AND g.viewer = $2 AND g.share = n.share
                            AND g.revoked IS NULL
                    ORDER BY n.number
                    """, viewer + [.numbers(shares.map(\.value))])
            case .changed(let zone, let position):
                Query(
                    """
                    SELECT \(ShareColumns.grant) FROM grants g
                    WHERE g.store = $1 AND g.viewer = $2 AND g.zone = $3 AND g.changed > $4
                    ORDER BY g.changed, g.share
                    """, viewer + [.number(zone.value), .number(position)])
            }
        }

        func readViews(
            of viewer: UserRecordName, _ selection: ViewSelection
        ) throws -> [StoredView] {
            let select = """
                SELECT \(ShareColumns.view) FROM views v WHERE v.store = $1 AND v.viewer = $2
                """
            let key: [Value] = [.number(store), .text(viewer.text)]
            let query =
                switch selection {
                case .zones(let zones):
                    Query(
                        "\(select) AND v.zone = ANY ($3) ORDER BY v.zone",
                        key + [.numbers(zones.map(\.value))])
                case .current: Query("\(select) AND v.ended IS NULL ORDER BY v.zone", key)
                case .changed(let position, let limit):
                    Query(
                        "\(select) AND v.changed > $3 ORDER BY v.changed LIMIT $4",
                        key + [.number(position), .number(Int64(limit))])
                }
            return try ask([query]).first?.all(StoredView.init(row:)) ?? []
        }

        func viewer(_ name: UserRecordName) throws -> StoredViewer {
            let rows = try ask(
                "SELECT whole_after FROM viewers WHERE store = $1 AND name = $2", .number(store),
                .text(name.text))
            return StoredViewer(oldestValidPosition: rows.count == 1 ? rows.number(0, 0) : 0)
        }
    }
#endif
