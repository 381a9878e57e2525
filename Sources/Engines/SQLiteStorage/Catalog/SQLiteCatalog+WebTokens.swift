import CloudModel
import SQLite
import Storage

extension SQLiteCatalog {
    /// Bounds the work that one new token takes on for those that have expired.
    private static let expiredPerTokenMax: Int64 = 1_000

    package func add(
        _ token: WebTokenRecord, replacing old: [UInt8]?, for user: UserRecordName,
        sessionsMax: Int, now: Milliseconds
    ) throws {
        let isFull = try old == nil && sessionCount(like: token) >= sessionsMax
        try write(endsWhatWasTrue: isFull) { catalog in
            if isFull { try SQLiteCatalog.endOldest(like: token, of: sessionsMax, in: catalog) }
            try SQLiteCatalog.requireContainer(token.container, in: catalog)
            try SQLiteCatalog.requireAccount(token.account, in: catalog)
            if let old {
                guard try catalog.exists("SELECT 1 FROM web_tokens WHERE hash = ?", .bytes(old))
                else { throw CatalogRefusal.webTokenUnknown }
            }
            try catalog.run(
                """
                INSERT INTO web_tokens
                (hash, session, account, container, environment, made_at, expires_at, begun_at,
                origin, device)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, .bytes(token.hash), .bytes(token.session), .text(token.account.text),
                .text(token.container.folded), .text(token.environment.rawValue),
                .integer(token.madeAt), .integer(token.expiresAt), .integer(token.begunAt),
                .text(token.source.origin), .text(token.source.device))
            try SQLiteCatalog.note(user, of: token.account, in: token.container, catalog)
            try catalog.run(
                """
                DELETE FROM web_tokens WHERE hash IN
                (SELECT hash FROM web_tokens WHERE expires_at <= ? LIMIT ?)
                """, .integer(now), .integer(SQLiteCatalog.expiredPerTokenMax))
        }
    }

    private func sessionCount(like token: WebTokenRecord) throws -> Int {
        try read { catalog in
            try catalog.first(
                """
                SELECT count(DISTINCT session) FROM web_tokens
                WHERE account = ? AND container = ? AND environment = ?
                """, .text(token.account.text), .text(token.container.folded),
                .text(token.environment.rawValue)
            ) { Int($0.int64(0)) } ?? 0
        }
    }

    /// Makes room for more than one, because each time all that was found before is looked up anew.
    private static func endOldest(
        like token: WebTokenRecord, of sessionsMax: Int, in catalog: CatalogConnection
    ) throws {
        try catalog.run(
            """
            DELETE FROM web_tokens WHERE session IN (SELECT session FROM web_tokens
            WHERE account = ? AND container = ? AND environment = ? GROUP BY session
            ORDER BY max(coalesce(used_at, 0), made_at) DESC LIMIT -1 OFFSET ?)
            """, .text(token.account.text), .text(token.container.folded),
            .text(token.environment.rawValue), .integer(Int64((sessionsMax - 1) * 9 / 10)))
    }

    package func webToken(hash: [UInt8]) throws -> WebTokenRecord? {
        try read { catalog in
            try catalog.first(
                "\(SQLiteCatalog.webTokenSelection) WHERE t.hash = ?", .bytes(hash),
                row: SQLiteCatalog.webToken)
        }
    }

    package func webTokens(_ keys: WebTokenKeys) throws -> [WebTokenRecord] {
        let chosen = SQLiteCatalog.chosen(keys)
        return try read { catalog in
            try catalog.all(
                """
                \(SQLiteCatalog.webTokenSelection) WHERE \(chosen.condition)
                ORDER BY t.made_at, t.hash
                """, chosen.first, chosen.second, row: SQLiteCatalog.webToken)
        }
    }

    package func deleteWebTokens(_ keys: WebTokenKeys) throws {
        let chosen = SQLiteCatalog.chosen(keys)
        try write {
            try $0.run(
                "DELETE FROM web_tokens AS t WHERE \(chosen.condition)", chosen.first,
                chosen.second)
        }
    }

    /// The condition for the table `t` of web tokens.
    private static func chosen(
        _ keys: WebTokenKeys
    ) -> (condition: String, first: CatalogValue, second: CatalogValue) {
        switch keys {
        case .session(let session): ("t.session = ?1 AND ?2 IS NULL", .bytes(session), .nothing)
        case .account(let account):
            ("t.account = ?1 AND ?2 IS NULL", .text(account.text), .nothing)
        case .environment(let container, let environment):
            (
                "t.container = ?1 AND t.environment = ?2", .text(container.folded),
                .text(environment.rawValue)
            )
        }
    }

    private static let webTokenSelection = """
        SELECT t.hash, t.session, t.account, c.name, t.environment, t.made_at, t.expires_at,
        t.used_at, t.begun_at, t.origin, t.device
        FROM web_tokens t JOIN containers c ON c.folded = t.container
        """

    private static func webToken(_ row: Statement) throws -> WebTokenRecord {
        guard let container = ContainerID(row.string(3)),
            let environment = Environment(rawValue: row.string(4))
        else { throw SQLiteError.unreadable("web_tokens") }
        return WebTokenRecord(
            hash: row.array(0), session: row.array(1), account: AccountID(row.string(2)),
            container: container, environment: environment, madeAt: row.int64(5),
            expiresAt: row.int64(6), usedAt: row.optionalInt64(7), begunAt: row.int64(8),
            source: SignInSource(origin: row.string(9), device: row.string(10)))
    }
}
