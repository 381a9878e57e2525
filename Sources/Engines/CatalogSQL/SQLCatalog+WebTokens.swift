import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    /// Bounds the work that one new token takes on for those that have expired.
    private static var expiredPerTokenMax: Int64 { 1_000 }

    package func add(
        _ token: WebTokenRecord, on basis: WebTokenBasis, for user: UserRecordName,
        sessionsMax: Int, now: Milliseconds
    ) throws {
        let beginsSession = if case .token = basis { false } else { true }
        let isFull = try beginsSession && sessionCount(like: token) >= sessionsMax
        try write(endsWhatWasTrue: isFull) { catalog in
            if isFull { try Self.endOldest(like: token, of: sessionsMax, in: catalog) }
            try Self.requireContainer(token.container, in: catalog)
            try Self.requireAccount(token.account, in: catalog)
            try Self.require(basis, of: token.account, in: catalog)
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
            try Self.note([user: token.account], in: token.container, catalog)
            try catalog.run(
                """
                DELETE FROM web_tokens WHERE hash IN
                (SELECT hash FROM web_tokens WHERE expires_at <= ? LIMIT ?)
                """, .integer(now), .integer(Self.expiredPerTokenMax))
        }
    }

    private static func require(
        _ basis: WebTokenBasis, of account: AccountID, in catalog: CatalogConnection
    ) throws {
        switch basis {
        case .account: break
        case .token(let hash):
            guard try catalog.exists("SELECT 1 FROM web_tokens WHERE hash = ?", .bytes(hash))
            else { throw CatalogRefusal.webTokenUnknown }
        case .browserSession(let hash): try requireBrowser(hash, of: account, in: catalog)
        case .signInCode(let hash):
            let used = try catalog.run(
                "DELETE FROM sign_in_codes WHERE hash = ? AND account = ?", .bytes(hash),
                .text(account.text))
            guard used == 1 else { throw CatalogRefusal.signInCodeUnknown }
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
            ORDER BY max(CASE WHEN used_at > made_at THEN used_at ELSE made_at END) DESC
            LIMIT \(Int64.max) OFFSET ?)
            """, .text(token.account.text), .text(token.container.folded),
            .text(token.environment.rawValue), .integer(Int64((sessionsMax - 1) * 9 / 10)))
    }

    package func webToken(hash: [UInt8]) throws -> WebTokenRecord? {
        try read { catalog in
            try catalog.first(
                "\(Self.webTokenSelection) WHERE t.hash = ?", .bytes(hash),
                row: Self.webToken)
        }
    }

    package func webSessions(
        _ keys: WebTokenKeys, livingAt now: Milliseconds, _ request: ListRequest
    ) throws -> ListPage<WebSession> {
        let chosen = Self.chosen(keys)
        let query = ListQuery(
            name: "sessions",
            columns: """
                t.session, max(t.account), max(c.name), max(t.environment), min(t.begun_at),
                min(t.made_at), max(t.made_at), max(t.expires_at), max(t.used_at), max(t.origin),
                max(t.device), max(a.address)
                """,
            width: 12,
            tables: """
                web_tokens t JOIN containers c ON c.folded = t.container
                LEFT JOIN addresses a ON a.account = t.account AND a.is_primary = 1
                """,
            condition: "\(chosen.condition) AND t.expires_at > ?",
            values: chosen.values + [.integer(now)], key: [("t.session", .bytes)],
            bounds: ListQuery.Bounds(hexadecimalPrefix: request.prefix.lowercased()),
            grouping: "GROUP BY t.session")
        return try read { try $0.page(query, request, row: Self.webSession) }
    }

    package func deleteWebTokens(_ keys: WebTokenKeys) throws {
        let chosen = Self.chosen(keys)
        try write {
            try $0.run("DELETE FROM web_tokens AS t WHERE \(chosen.condition)", chosen.values)
        }
    }

    /// The condition for the table `t` of web tokens.
    ///
    /// What is within `coalesce` is not looked for by an index: an account has few tokens, an environment many.
    private static func chosen(
        _ keys: WebTokenKeys
    ) -> (condition: String, values: [CatalogValue]) {
        switch keys {
        case .session(let session): ("t.session = ?", [.bytes(session)])
        case .account(let account): ("t.account = ?", [.text(account.text)])
        case .environment(let container, let environment):
            (
                "t.container = ? AND t.environment = ?",
                [.text(container.folded), .text(environment.rawValue)]
            )
        case .member(let account, let container, let environment):
            (
                """
                t.account = ? AND coalesce(t.container, t.container) = ?
                AND coalesce(t.environment, t.environment) = ?
                """,
                [.text(account.text), .text(container.folded), .text(environment.rawValue)]
            )
        }
    }

    private static func webSession(_ row: any CatalogRow) throws -> WebSession {
        guard let container = ContainerID(row.string(2)),
            let environment = Environment(rawValue: row.string(3)), row.int64(5) <= row.int64(6)
        else { throw InvalidRow(table: "web_tokens") }
        return WebSession(
            session: row.array(0), account: AccountID(row.string(1)),
            email: row.optionalString(11), container: container, environment: environment,
            begunAt: row.int64(4), madeAt: row.int64(5)...row.int64(6), expiresAt: row.int64(7),
            usedAt: row.optionalInt64(8),
            source: SignInSource(origin: row.string(9), device: row.string(10)))
    }

    private static var webTokenSelection: String {
        """
        SELECT t.hash, t.session, t.account, c.name, t.environment, t.made_at, t.expires_at,
        t.used_at, t.begun_at, t.origin, t.device
        FROM web_tokens t JOIN containers c ON c.folded = t.container
        """
    }

    private static func webToken(_ row: any CatalogRow) throws -> WebTokenRecord {
        guard let container = ContainerID(row.string(3)),
            let environment = Environment(rawValue: row.string(4))
        else { throw InvalidRow(table: "web_tokens") }
        return WebTokenRecord(
            hash: row.array(0), session: row.array(1), account: AccountID(row.string(2)),
            container: container, environment: environment, madeAt: row.int64(5),
            expiresAt: row.int64(6), usedAt: row.optionalInt64(7), begunAt: row.int64(8),
            source: SignInSource(origin: row.string(9), device: row.string(10)))
    }
}
