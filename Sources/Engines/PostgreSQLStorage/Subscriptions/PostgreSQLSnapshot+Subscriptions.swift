#if PostgreSQL
    import CatalogSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What a read sees of subscriptions.
    extension PostgreSQLSnapshot {
        private static let query = """
            SELECT \(SubscriptionRows.columns) FROM subscriptions s WHERE s.store = $1
            """

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
            return try rows.all(WatchingSubscription.init(row:))
        }

        func allSubscriptions(
            of user: UserRecordName?, _ request: ListRequest
        ) throws -> ListPage<WatchingSubscription> {
            let session = PostgreSQLCatalogSession { try self.ask([$0]) }
            return try CatalogConnection(session).page(
                SubscriptionRows.list(of: user, in: store, request), request,
                row: WatchingSubscription.init(row:))
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
    }
#endif
