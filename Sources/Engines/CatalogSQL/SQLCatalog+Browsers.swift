import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func add(
        _ session: BrowserSession, password: String?, countMax: Int, now: Milliseconds
    ) throws {
        try write(endsWhatWasTrue: false) { catalog in
            let account = CatalogValue.text(session.account.text)
            switch session.kind {
            case .pages: try Self.requireAccount(session.account, in: catalog)
            case .console:
                guard try catalog.exists("SELECT 1 FROM operators WHERE account = ?", account)
                else { throw CatalogRefusal.operatorUnknown }
            }
            if let password {
                try Self.requirePassword(password, of: session.account, in: catalog)
            }
            try catalog.run("DELETE FROM browser_sessions WHERE expires_at <= ?", .integer(now))
            try catalog.run(
                """
                DELETE FROM browser_sessions WHERE hash IN (SELECT hash FROM browser_sessions
                WHERE account = ? AND kind = ?
                ORDER BY used_at DESC, made_at DESC, hash LIMIT \(Int64.max) OFFSET ?)
                """, account, .text(session.kind.rawValue),
                .integer(Int64(max(0, countMax - 1))))
            try catalog.run(
                """
                INSERT INTO browser_sessions
                (hash, kind, account, device, made_at, used_at, proved_at, expires_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, .bytes(session.hash), .text(session.kind.rawValue), account,
                .text(session.device), .integer(session.madeAt), .integer(session.usedAt),
                .integer(session.provedAt), .integer(session.expiresAt))
        }
    }

    package func browserSessions(
        _ kind: BrowserSession.Kind, _ key: BrowserSessionKey
    ) throws -> [BrowserSession] {
        let (column, value): (String, CatalogValue) =
            switch key {
            case .hash(let hash): ("hash", .bytes(hash))
            case .account(let account): ("account", .text(account.text))
            }
        return try read { catalog in
            try catalog.all(
                """
                SELECT hash, account, device, made_at, used_at, proved_at, expires_at
                FROM browser_sessions WHERE \(column) = ? AND kind = ? ORDER BY made_at, hash
                """, value, .text(kind.rawValue)
            ) { row in
                BrowserSession(
                    hash: row.array(0), kind: kind, account: AccountID(row.string(1)),
                    device: row.string(2), madeAt: row.int64(3), usedAt: row.int64(4),
                    provedAt: row.int64(5), expiresAt: row.int64(6))
            }
        }
    }

    package func note(_ use: BrowserSessionUse?, of hash: [UInt8]) throws {
        try write(endsWhatWasTrue: false) { catalog in
            guard let use else {
                try catalog.run("DELETE FROM browser_sessions WHERE hash = ?", .bytes(hash))
                return
            }
            try catalog.run(
                """
                UPDATE browser_sessions
                SET used_at = CASE WHEN used_at > ?1 THEN used_at ELSE ?1 END,
                proved_at = CASE WHEN ?2 = 1 THEN ?1 ELSE proved_at END WHERE hash = ?3
                """, .integer(use.moment), .flag(use.isProof), .bytes(hash))
        }
    }

    static func endSessions(
        of account: AccountID, except kept: [UInt8]?, in catalog: CatalogConnection
    ) throws {
        for table in ["web_tokens", "sign_in_codes", "letter_links"] {
            try catalog.run("DELETE FROM \(table) WHERE account = ?", .text(account.text))
        }
        try catalog.run(
            "DELETE FROM browser_sessions WHERE account = ? AND hash <> ?",
            .text(account.text), .bytes(kept ?? []))
    }

    package func hasConsent(
        of account: AccountID, for apiToken: [UInt8], at origin: String
    ) throws -> Bool {
        try read {
            try $0.exists(
                "SELECT 1 FROM consents WHERE account = ? AND token_hash = ? AND origin = ?",
                .text(account.text), .bytes(apiToken), .text(origin))
        }
    }

    package func addConsent(
        of account: AccountID, for apiToken: [UInt8], at origin: String
    ) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try Self.requireAccount(account, in: catalog)
            guard try catalog.exists("SELECT 1 FROM api_tokens WHERE hash = ?", .bytes(apiToken))
            else { throw CatalogRefusal.apiTokenUnknown }
            try catalog.run(
                """
                INSERT INTO consents (account, token_hash, origin) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
                """, .text(account.text), .bytes(apiToken), .text(origin))
        }
    }

    package func add(_ code: SignInCode, askedBy session: [UInt8], now: Milliseconds) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try Self.requireContainer(code.container, in: catalog)
            try Self.requireAccount(code.account, in: catalog)
            try Self.requireBrowser(session, of: code.account, in: catalog)
            try catalog.run("DELETE FROM sign_in_codes WHERE expires_at <= ?", .integer(now))
            try catalog.run(
                """
                INSERT INTO sign_in_codes
                (hash, account, container, environment, seconds, challenge, expires_at, origin,
                device)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, .bytes(code.hash), .text(code.account.text), .text(code.container.folded),
                .text(code.environment.rawValue), .integer(Int64(code.seconds)),
                .bytes(code.challenge), .integer(code.expiresAt), .text(code.source.origin),
                .text(code.source.device))
        }
    }

    static func requireBrowser(
        _ session: [UInt8], of account: AccountID, in catalog: CatalogConnection
    ) throws {
        let isThere = try catalog.exists(
            "SELECT 1 FROM browser_sessions WHERE hash = ? AND account = ?", .bytes(session),
            .text(account.text))
        guard isThere else { throw CatalogRefusal.browserSessionUnknown }
    }

    package func signInCode(
        hash: [UInt8], isUsedUp: Bool, now: Milliseconds
    ) throws -> SignInCode? {
        guard isUsedUp else { return try read { try Self.signInCode(hash, now: now, in: $0) } }
        return try write(endsWhatWasTrue: false) { catalog in
            let found = try Self.signInCode(hash, now: now, in: catalog)
            try catalog.run("DELETE FROM sign_in_codes WHERE hash = ?", .bytes(hash))
            return found
        }
    }

    private static func signInCode(
        _ hash: [UInt8], now: Milliseconds, in catalog: CatalogConnection
    ) throws -> SignInCode? {
        try catalog.first(
            """
            SELECT s.account, c.name, s.environment, s.seconds, s.challenge, s.expires_at,
            s.origin, s.device FROM sign_in_codes s
            JOIN containers c ON c.folded = s.container WHERE s.hash = ? AND s.expires_at > ?
            """, .bytes(hash), .integer(now)
        ) { row in
            guard let container = ContainerID(row.string(1)),
                let environment = Environment(rawValue: row.string(2))
            else { throw InvalidRow(table: "sign_in_codes") }
            return SignInCode(
                hash: hash, account: AccountID(row.string(0)), container: container,
                environment: environment, seconds: Int(clamping: row.int64(3)),
                challenge: row.array(4), expiresAt: row.int64(5),
                source: SignInSource(origin: row.string(6), device: row.string(7)))
        }
    }
}
