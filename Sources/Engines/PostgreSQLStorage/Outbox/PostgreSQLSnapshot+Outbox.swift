#if PostgreSQL
    import CatalogSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What a read sees of destinations and of what waits for them.
    extension PostgreSQLSnapshot {
        private static let destinationQuery = """
            SELECT destination, kind, key, user_record_name, device, address, session, made_at,
                used_at, badge, failures, due_at
            FROM destinations WHERE store = $1
            """

        static let noticeColumns = """
            notice, destination, identifier, scope, zone, record_type, is_own, collapse_id, payload,
            made_at, trace
            """

        func destinations(_ keys: DestinationKeys) throws -> [StoredDestination] {
            let (condition, order, values): (String, String, [Value]) =
                switch keys {
                case .number(let number):
                    ("destination = $2", "destination", [.number(number.value)])
                case .key(let kind, let key):
                    (
                        "kind = $2 AND sha256(key) = sha256($3) AND key = $3", "destination",
                        [.number(kind.rawValue), .bytes(key)]
                    )
                case .user(let user): ("user_record_name = $2", "destination", [.text(user.text)])
                case .kind(let kind): ("kind = $2", "destination", [.number(kind.rawValue)])
                case .due(let kinds, let after, let moment, let limit):
                    (
                        "due_at > $2 AND due_at <= $3 AND kind = ANY ($4)",
                        "due_at, destination LIMIT $5",
                        [
                            .number(after), .number(moment), .numbers(kinds.map(\.rawValue)),
                            .number(Int64(limit)),
                        ]
                    )
                case .unused(let kind, let moment, let limit):
                    (
                        "kind = $2 AND used_at < $3", "used_at, destination LIMIT $4",
                        [.number(kind.rawValue), .number(moment), .number(Int64(limit))]
                    )
                }
            let query = Query(
                "\(Self.destinationQuery) AND \(condition) ORDER BY \(order)",
                [.number(store)] + values)
            guard let rows = try ask([query]).first else { return [] }
            return try rows.all(StoredDestination.init(row:))
        }

        private static let waiting = """
            SELECT \(noticeColumns), NULL::bytea AS reason, NULL::bigint AS died_at FROM outbox
            WHERE store = $1
            """
        private static let dead = """
            SELECT \(noticeColumns), reason, died_at FROM dead_letters WHERE store = $1
            """
        private static let speaks = """
            notice > $3 AND (position($2::bytea IN payload) > 0 OR zone IN (
                SELECT z.zone FROM zones z JOIN owners o ON o.store = $1 AND o.owner = z.owner
                WHERE z.store = $1 AND o.record_name = $2))
            """

        func notices(
            _ keys: NoticeKeys, after number: NoticeNumber, limit: Int
        ) throws -> [StoredNotice] {
            let those = "AND destination = $2 AND notice > $3"
            let (text, key): (String, Value) =
                switch keys {
                case .waiting(let destination):
                    ("\(Self.waiting) \(those)", .number(destination.value))
                case .dead(let destination):
                    ("\(Self.dead) \(those)", .number(destination.value))
                case .speakingOf(let person):
                    (
                        """
                        \(Self.waiting) AND \(Self.speaks)
                        UNION ALL \(Self.dead) AND \(Self.speaks)
                        """, .text(person.text)
                    )
                }
            let rows = try ask(
                "\(text) ORDER BY notice LIMIT $4", .number(store), key, .number(number.value),
                .number(Int64(limit)))
            return try rows.all(StoredNotice.init(row:))
        }

        func noticeSummaries(
            _ state: NoticeState, for destinations: [DestinationNumber]?, countedMax: Int
        ) throws -> [NoticeSummary] {
            let rows = try ask(
                Self.summaryText(of: state, isOfAll: destinations == nil), .number(store),
                .numbers(destinations?.map(\.value) ?? [0]),
                .number(Int64(countedMax)))
            return (0..<rows.count).map { row in
                NoticeSummary(
                    count: Int(rows.number(row, 0)), oldest: rows.optionalNumber(row, 1),
                    lastEnd: rows.optionalNumber(row, 3).map {
                        NoticeEnd(reason: rows.text(row, 2), at: $0)
                    })
            }
        }

        /// A row for each destination, or one for the whole store.
        private static func summaryText(of state: NoticeState, isOfAll: Bool) -> String {
            let table = state == .waiting ? "outbox" : "dead_letters"
            let these =
                "FROM \(table) n WHERE n.store = $1"
                + (isOfAll ? "" : " AND n.destination = d.destination")
            let end = state == .waiting ? "NULL::bytea, NULL::bigint" : "e.reason, e.died_at"
            let last = """
                LEFT JOIN LATERAL (
                    SELECT n.reason, n.died_at \(these) ORDER BY n.notice DESC LIMIT 1
                ) AS e ON true
                """
            return """
                SELECT (SELECT count(*) FROM (SELECT 1 \(these) LIMIT $3) AS counted),
                    (SELECT n.made_at \(these) ORDER BY n.notice LIMIT 1), \(end)
                FROM unnest($2::bigint[]) WITH ORDINALITY AS d (destination, number)
                \(state == .waiting ? "" : last) ORDER BY d.number
                """
        }
    }
#endif
