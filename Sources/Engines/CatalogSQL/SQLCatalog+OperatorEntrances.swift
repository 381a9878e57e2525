import CloudModel
import Storage
import StoredRows

// How operators come in: tokens, and the link of the first one.
extension SQLCatalog {
    package func add(_ token: OperatorTokenRecord, now: Milliseconds) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try catalog.run(
                """
                DELETE FROM operator_containers WHERE holder IN
                (SELECT 'token:' || name FROM operator_tokens WHERE expires_at <= ?)
                """, .integer(now))
            try catalog.run("DELETE FROM operator_tokens WHERE expires_at <= ?", .integer(now))
            let added = try catalog.run(
                """
                INSERT INTO operator_tokens
                (hash, name, has_all, is_read_only, made_at, expires_at)
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING
                """, .bytes(token.hash), .text(token.name),
                .flag(token.rights.hasAllContainers), .flag(token.rights.isReadOnly),
                .integer(token.madeAt), .integer(token.expiresAt))
            guard added == 1 else { throw CatalogRefusal.nameTaken }
            try Self.set(token.rights, of: .token(name: token.name), in: catalog)
        }
    }

    package func operatorToken(hash: [UInt8]) throws -> OperatorTokenRecord? {
        try read { catalog in
            try catalog.first(
                "SELECT \(Self.tokenColumns) FROM operator_tokens WHERE hash = ?",
                .bytes(hash)
            ) { try Self.operatorToken($0, in: catalog) }
        }
    }

    package func operatorTokens(_ request: ListRequest) throws -> ListPage<OperatorTokenRecord> {
        let query = ListQuery(
            name: "operator-tokens", columns: Self.tokenColumns, width: 7,
            tables: "operator_tokens", key: [("name", .text)],
            bounds: ListQuery.Bounds(textPrefix: request.prefix))
        return try read { catalog in
            try catalog.page(query, request) { try Self.operatorToken($0, in: catalog) }
        }
    }

    private static var tokenColumns: String {
        "hash, name, has_all, is_read_only, made_at, expires_at, used_at"
    }

    private static func operatorToken(
        _ row: any CatalogRow, in catalog: CatalogConnection
    ) throws -> OperatorTokenRecord {
        let name = row.string(1)
        return OperatorTokenRecord(
            hash: row.array(0), name: name,
            rights: try rights(row, from: 2, of: .token(name: name), in: catalog),
            madeAt: row.int64(4), expiresAt: row.int64(5), usedAt: row.optionalInt64(6))
    }

    static func deleteOperatorToken(named name: String, in catalog: CatalogConnection) throws {
        guard try catalog.run("DELETE FROM operator_tokens WHERE name = ?", .text(name)) == 1
        else { throw CatalogRefusal.operatorTokenUnknown }
        try Self.dropContainers(of: .token(name: name), in: catalog)
    }

    package func offerFirstOperator(hash: [UInt8], until end: Milliseconds) throws -> Bool {
        try write(endsWhatWasTrue: false) { catalog in
            guard try !catalog.exists("SELECT 1 FROM operators") else { return false }
            return try catalog.run(
                """
                INSERT INTO first_operator (id, hash, expires_at) VALUES (0, ?, ?)
                ON CONFLICT DO NOTHING
                """, .bytes(hash), .integer(end)) == 1
        }
    }

    /// Uses the secret of the first operator up, if it is good.
    static func takeFirstOperator(
        _ hash: [UInt8], now: Milliseconds, in catalog: CatalogConnection
    ) throws -> Bool {
        guard try !catalog.exists("SELECT 1 FROM operators") else { return false }
        return try catalog.run(
            "DELETE FROM first_operator WHERE hash = ? AND expires_at > ?", .bytes(hash),
            .integer(now)) == 1
    }

    // MARK: What operators looked at

    package func note(_ look: OperatorLook) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try Self.requireAccount(look.account, in: catalog)
            try catalog.run(
                """
                INSERT INTO operator_looks (account, time, kind, action, container)
                VALUES (?, ?, ?, ?, ?)
                """, .text(look.account.text), .integer(look.time), .text(look.kind.rawValue),
                .text(look.action), .optional(look.container?.folded))
        }
    }

    package func looks(at account: AccountID, limit: Int) throws -> [OperatorLook] {
        try read { catalog in
            try catalog.all(
                """
                SELECT l.time, l.kind, l.action, c.name FROM operator_looks l
                LEFT JOIN containers c ON c.folded = l.container WHERE l.account = ?
                ORDER BY l.time DESC, l.number DESC LIMIT ?
                """, .text(account.text), .integer(Int64(limit))
            ) { row in
                guard let kind = OperatorKind(rawValue: row.string(1)) else {
                    throw InvalidRow(table: "operator_looks")
                }
                return OperatorLook(
                    account: account, time: row.int64(0), by: kind, action: row.string(2),
                    container: row.optionalString(3).flatMap { ContainerID($0) })
            }
        }
    }

}
