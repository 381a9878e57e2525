import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func add(_ token: APITokenRecord, replaces: Bool) throws {
        // What is cached of a token that changes holds no more.
        try write(endsWhatWasTrue: replaces) { catalog in
            try Self.requireContainer(token.container, in: catalog)
            if replaces {
                let changed = try catalog.run(
                    "UPDATE api_tokens SET callback = ? WHERE hash = ?",
                    .optional(token.callback), .bytes(token.hash))
                guard changed == 1 else { throw CatalogRefusal.apiTokenUnknown }
                try catalog.run(
                    "DELETE FROM api_token_origins WHERE token_hash = ?", .bytes(token.hash))
            } else {
                try Self.insert(token, in: catalog)
            }
            for origin in token.origins {
                try catalog.run(
                    """
                    INSERT INTO api_token_origins (token_hash, origin) VALUES (?, ?)
                    ON CONFLICT DO NOTHING
                    """, .bytes(token.hash), .text(origin))
            }
        }
    }

    private static func insert(_ token: APITokenRecord, in catalog: CatalogConnection) throws {
        let added = try catalog.run(
            """
            INSERT INTO api_tokens (hash, name, container, environment, callback, created_at)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, .bytes(token.hash), .text(token.name), .text(token.container.folded),
            .text(token.environment.rawValue), .optional(token.callback),
            .integer(token.createdAt))
        guard added == 1 else { throw CatalogRefusal.nameTaken }
    }

    /// Of SHA-256.
    private static var hashBytes: Int { 32 }
    private static var apiTokenColumns: String {
        "t.hash, t.name, c.name, t.environment, t.callback, t.created_at, t.used_at"
    }
    private static var apiTokenTables: String {
        "api_tokens t JOIN containers c ON c.folded = t.container"
    }

    package func apiToken(_ key: APITokenKey) throws -> APITokenRecord? {
        let (first, last) =
            switch key {
            case .hash(let hash): (hash, hash)
            case .hashPrefix(let prefix):
                (prefix, prefix + [UInt8](repeating: .max, count: Self.hashBytes))
            }
        return try read { catalog in
            let found = try catalog.all(
                """
                SELECT \(Self.apiTokenColumns) FROM \(Self.apiTokenTables)
                WHERE t.hash BETWEEN ? AND ? LIMIT 1
                """, .bytes(first), .bytes(last), row: Self.apiToken)
            return try Self.withOrigins(found, in: catalog).first
        }
    }

    package func apiTokens(
        _ request: ListRequest, of some: Set<ContainerID>?
    ) throws -> ListPage<APITokenRecord> {
        var query = ListQuery(
            name: "api-tokens", columns: Self.apiTokenColumns, width: 7,
            tables: Self.apiTokenTables, key: [("t.name", .text)],
            bounds: ListQuery.Bounds(textPrefix: request.prefix))
        if let some { query.require("t.container", among: some) }
        return try read { [query] catalog in
            let page = try catalog.page(query, request, row: Self.apiToken)
            return ListPage(items: try Self.withOrigins(page.items, in: catalog), next: page.next)
        }
    }

    package func delete(_ credential: NamedCredential) throws {
        // What let requests in is cached; the others are asked for each time.
        let ends =
            switch credential {
            case .apiToken, .serverKey, .pushKey: true
            case .operatorToken, .identityProvider: false
            }
        try write(endsWhatWasTrue: ends) { catalog in
            switch credential {
            case .apiToken(let name):
                try Self.deleteAPIToken(named: name, in: catalog)
            case .operatorToken(let name):
                try Self.deleteOperatorToken(named: name, in: catalog)
            case .serverKey(let keyID):
                guard try catalog.run("DELETE FROM server_keys WHERE key_id = ?", .text(keyID)) == 1
                else { throw CatalogRefusal.serverKeyUnknown }
            case .identityProvider(let name):
                guard
                    try catalog.run("DELETE FROM identity_providers WHERE name = ?", .text(name))
                        == 1
                else { throw CatalogRefusal.identityProviderUnknown }
            case .pushKey(let topic, let container):
                try Self.requireContainer(container, in: catalog)
                guard
                    try catalog.run(
                        "DELETE FROM push_keys WHERE container = ? AND topic = ?",
                        .text(container.folded), .text(topic)) == 1
                else { throw CatalogRefusal.pushKeyUnknown }
            }
        }
    }

    private static func deleteAPIToken(
        named name: String, in catalog: CatalogConnection
    ) throws {
        try catalog.run(
            """
            DELETE FROM api_token_origins WHERE token_hash IN
            (SELECT hash FROM api_tokens WHERE name = ?)
            """, .text(name))
        guard try catalog.run("DELETE FROM api_tokens WHERE name = ?", .text(name)) == 1 else {
            throw CatalogRefusal.apiTokenUnknown
        }
        try dropConsentsOfNoToken(in: catalog)
    }

    /// A token without its origins.
    private static func apiToken(_ row: any CatalogRow) throws -> APITokenRecord {
        guard let container = ContainerID(row.string(2)),
            let environment = Environment(rawValue: row.string(3))
        else { throw InvalidRow(table: "api_tokens") }
        return APITokenRecord(
            hash: row.array(0), name: row.string(1), container: container,
            environment: environment, callback: row.optionalString(4), createdAt: row.int64(5),
            usedAt: row.optionalInt64(6))
    }

    private static func withOrigins(
        _ tokens: [APITokenRecord], in catalog: CatalogConnection
    ) throws -> [APITokenRecord] {
        let origins = try catalog.all(
            """
            SELECT token_hash, origin FROM api_token_origins WHERE token_hash IN (?*)
            ORDER BY origin
            """, among: tokens.map { .bytes($0.hash) }
        ) { (hash: $0.array(0), origin: $0.string(1)) }
        let byHash = Dictionary(grouping: origins, by: \.hash)
        return tokens.map { token in
            var whole = token
            whole.origins = byHash[token.hash]?.map(\.origin) ?? []
            return whole
        }
    }

    package func add(_ key: ServerKeyRecord) throws {
        try write { catalog in
            try Self.requireContainer(key.container, in: catalog)
            try catalog.run(
                """
                INSERT INTO server_keys
                (key_id, name, container, environment, public_key, scope, created_at,
                user_record_name)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, .text(key.keyID), .optional(key.name), .text(key.container.folded),
                .text(key.environment.rawValue), .bytes(key.publicKeyDER),
                .text(key.scope.rawValue), .integer(key.createdAt),
                .text(key.userRecordName.text))
        }
    }

    private static var serverKeyColumns: String {
        """
        k.key_id, k.name, c.name, k.environment, k.public_key, k.scope, k.created_at, k.used_at,
        k.user_record_name
        """
    }
    private static var serverKeyTables: String {
        "server_keys k JOIN containers c ON c.folded = k.container"
    }

    package func serverKeys(
        _ request: ListRequest, of some: Set<ContainerID>?
    ) throws -> ListPage<ServerKeyRecord> {
        var query = ListQuery(
            name: "server-keys", columns: Self.serverKeyColumns, width: 9,
            tables: Self.serverKeyTables, key: [("k.key_id", .text)],
            bounds: ListQuery.Bounds(textPrefix: request.prefix))
        if let some { query.require("k.container", among: some) }
        return try read { [query] in try $0.page(query, request, row: Self.serverKey) }
    }

    private static func serverKey(_ row: any CatalogRow) throws -> ServerKeyRecord {
        guard let container = ContainerID(row.string(2)),
            let environment = Environment(rawValue: row.string(3)),
            let scope = ServerKeyRecord.Scope(rawValue: row.string(5)),
            let userRecordName = UserRecordName(row.string(8))
        else { throw InvalidRow(table: "server_keys") }
        return ServerKeyRecord(
            keyID: row.string(0), name: row.optionalString(1), container: container,
            environment: environment, publicKeyDER: row.array(4), scope: scope,
            userRecordName: userRecordName, createdAt: row.int64(6), usedAt: row.optionalInt64(7))
    }

    package func note(uses: [UsedCredential: Milliseconds]) throws {
        try write(endsWhatWasTrue: false) { catalog in
            for (credential, time) in uses {
                switch credential {
                case .apiToken(let hash):
                    try catalog.run(
                        "UPDATE api_tokens SET used_at = ? WHERE hash = ?", .integer(time),
                        .bytes(hash))
                case .serverKey(let keyID):
                    try catalog.run(
                        "UPDATE server_keys SET used_at = ? WHERE key_id = ?", .integer(time),
                        .text(keyID))
                case .operatorToken(let hash):
                    try catalog.run(
                        "UPDATE operator_tokens SET used_at = ? WHERE hash = ?", .integer(time),
                        .bytes(hash))
                case .webTokens(let session):
                    try catalog.run(
                        "UPDATE web_tokens SET used_at = ? WHERE session = ?", .integer(time),
                        .bytes(session))
                }
            }
        }
    }
}
