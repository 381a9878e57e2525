#if PostgreSQL
    import CatalogSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What a read sees of subscriptions.
    extension PostgreSQLSnapshot {
        private static let columns = """
            s.name, s.kind, s.record_type, s.zone, s.fires_on, s.fires_once, s.query,
            s.notification_info, s.user_record_name, s.scope, s.since
            """
        private static let query = "SELECT \(columns) FROM subscriptions s WHERE s.store = $1"

        func subscriptions(_ keys: SubscriptionKeys) throws -> [WatchingSubscription] {
            let rows =
                switch keys {
                case .ids(let ids, let owner):
                    try ask(
                        """
                        \(Self.query) AND s.user_record_name = $2 AND s.scope = $3
                            AND s.name = ANY ($4) ORDER BY s.name
                        """, .number(store), .text(owner.user.text), .number(owner.scope.stored),
                        .texts(ids.map(\.text)))
                case .owner(let owner):
                    try ask(
                        """
                        \(Self.query) AND s.user_record_name = $2 AND s.scope = $3 ORDER BY s.name
                        """, .number(store), .text(owner.user.text), .number(owner.scope.stored))
                case .publicOnes(let type, let match):
                    try ask(
                        """
                        \(Self.query) AND s.scope = 0 AND s.record_type = $2 AND s.match_field = $3
                            AND sha256(s.match_value) = sha256($4) AND s.match_value = $4
                        """, .number(store), .text(type.text), .text(match?.field ?? ""),
                        .bytes(match?.value ?? []))
                }
            return try (0..<rows.count).map {
                try Self.watching(PostgreSQLCatalogRow(rows: rows, row: $0))
            }
        }

        func allSubscriptions(
            of user: UserRecordName?, _ request: ListRequest
        ) throws -> ListPage<WatchingSubscription> {
            let owner: [(column: String, kind: ListQuery.KeyKind)] = [
                ("s.user_record_name", .text), ("s.scope", .integer),
            ]
            let isSearched = !request.prefix.isEmpty
            let theirs = user == nil ? "" : " AND s.user_record_name = ?"
            let query = ListQuery(
                name: isSearched ? "subscriptions-found" : "subscriptions",
                columns: Self.columns, width: 11, tables: "subscriptions s",
                condition: "s.store = ?\(theirs)",
                values: [.integer(store)] + (user.map { [.text($0.text)] } ?? []),
                key: isSearched ? [("s.name", .text)] + owner : owner + [("s.name", .text)],
                bounds: isSearched ? ListQuery.Bounds(textPrefix: request.prefix) : nil)
            let session = PostgreSQLCatalogSession { try self.ask([$0]) }
            return try CatalogConnection(session).page(query, request, row: Self.watching)
        }

        func subscriptionRevision() throws -> Int64 { try progress().subscriptionRevision }

        // One look in the index for each field, however many subscriptions there are.
        private static let fieldsText = """
            WITH RECURSIVE f (field) AS (
                (SELECT match_field FROM subscriptions WHERE store = $1 AND scope = 0
                    AND record_type = $2 AND match_field > ''::bytea
                ORDER BY match_field LIMIT 1)
                UNION ALL
                SELECT (SELECT match_field FROM subscriptions WHERE store = $1 AND scope = 0
                    AND record_type = $2 AND match_field > f.field
                ORDER BY match_field LIMIT 1)
                FROM f WHERE f.field IS NOT NULL)
            SELECT field FROM f WHERE field IS NOT NULL
            """

        func fieldsRequired(of type: RecordTypeName) throws -> [String] {
            let rows = try ask(Self.fieldsText, .number(store), .text(type.text))
            return (0..<rows.count).map { rows.text($0, 0) }
        }

        func watchers(ofShared zone: ZoneNumber) throws -> [UserRecordName] {
            let rows = try ask(
                """
                SELECT v.viewer FROM views v
                WHERE v.store = $1 AND v.zone = $2 AND v.ended IS NULL AND EXISTS (
                    SELECT 1 FROM subscriptions s
                    WHERE s.store = $1 AND s.user_record_name = v.viewer AND s.scope = 2)
                """, .number(store), .number(zone.value))
            return try (0..<rows.count).map { row in
                guard let name = UserRecordName(rows.text(row, 0)) else {
                    throw InvalidRow(table: "views")
                }
                return name
            }
        }

        private static func watching(_ row: any CatalogRow) throws -> WatchingSubscription {
            guard let user = UserRecordName(row.string(8)), let id = SubscriptionID(row.string(0)),
                let scope = DatabaseScope(stored: row.int64(9)),
                let kind = Subscription.Kind(rawValue: row.int64(1))
            else { throw InvalidRow(table: "subscriptions") }
            return WatchingSubscription(
                owner: SubscriptionOwner(user: user, scope: scope),
                subscription: Subscription(
                    id: id, kind: kind, recordType: RecordTypeName(row.string(2)),
                    zone: ZoneName(row.string(3)),
                    firesOn: Subscription.Firing(rawValue: row.int64(4)),
                    firesOnce: row.int64(5) != 0, query: row.isNull(6) ? nil : row.array(6),
                    notificationInfo: row.isNull(7) ? nil : row.array(7)),
                since: row.int64(10))
        }
    }
#endif
