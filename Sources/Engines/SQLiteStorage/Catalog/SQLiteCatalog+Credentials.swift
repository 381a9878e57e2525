import CloudModel
import SQLite
import Storage

extension SQLiteCatalog {
    package func add(_ token: APITokenRecord) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try SQLiteCatalog.requireContainer(token.container, in: catalog)
            let added = try catalog.run(
                """
                INSERT INTO api_tokens (hash, name, container, environment, callback, created_at)
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, .bytes(token.hash), .text(token.name), .text(token.container.folded),
                .text(token.environment.rawValue), .optional(token.callback),
                .integer(token.createdAt))
            guard added == 1 else { throw CatalogRefusal.nameTaken }
            for origin in token.origins {
                try catalog.run(
                    "INSERT OR IGNORE INTO api_token_origins (token_hash, origin) VALUES (?, ?)",
                    .bytes(token.hash), .text(origin))
            }
        }
    }

    private static let apiTokenQuery = """
        SELECT t.hash, t.name, c.name, t.environment, t.callback, t.created_at,
        t.used_at
        FROM api_tokens t JOIN containers c ON c.folded = t.container
        """

    package func apiToken(hash: [UInt8]) throws -> APITokenRecord? {
        try read { catalog in
            try catalog.first("\(SQLiteCatalog.apiTokenQuery) WHERE t.hash = ?", .bytes(hash)) {
                try SQLiteCatalog.apiToken($0, in: catalog)
            }
        }
    }

    package func apiTokens() throws -> [APITokenRecord] {
        try read { catalog in
            try catalog.all("\(SQLiteCatalog.apiTokenQuery) ORDER BY t.name") {
                try SQLiteCatalog.apiToken($0, in: catalog)
            }
        }
    }

    package func deleteAPIToken(name: String) throws {
        try write { catalog in
            try catalog.run(
                """
                DELETE FROM api_token_origins WHERE token_hash IN
                (SELECT hash FROM api_tokens WHERE name = ?)
                """, .text(name))
            guard try catalog.run("DELETE FROM api_tokens WHERE name = ?", .text(name)) == 1 else {
                throw CatalogRefusal.apiTokenUnknown
            }
            try SQLiteCatalog.dropConsentsOfNoToken(in: catalog)
        }
    }

    private static func apiToken(
        _ row: Statement, in catalog: CatalogConnection
    ) throws -> APITokenRecord {
        guard let container = ContainerID(row.string(2)),
            let environment = Environment(rawValue: row.string(3))
        else { throw SQLiteError.unreadable("api_tokens") }
        let hash = row.array(0)
        let origins = try catalog.all(
            "SELECT origin FROM api_token_origins WHERE token_hash = ? ORDER BY origin",
            .bytes(hash)
        ) { $0.string(0) }
        return APITokenRecord(
            hash: hash, name: row.string(1), container: container, environment: environment,
            origins: origins, callback: row.optionalString(4), createdAt: row.int64(5),
            usedAt: row.optionalInt64(6))
    }

    package func add(_ key: ServerKeyRecord) throws {
        try write { catalog in
            try SQLiteCatalog.requireContainer(key.container, in: catalog)
            try catalog.run(
                """
                INSERT INTO server_keys
                (key_id, name, container, environment, public_key, scope, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, .text(key.keyID), .optional(key.name), .text(key.container.folded),
                .text(key.environment.rawValue), .bytes(key.publicKeyDER),
                .text(key.scope.rawValue), .integer(key.createdAt))
        }
    }

    package func serverKeys() throws -> [ServerKeyRecord] {
        try read { catalog in
            try catalog.all(
                """
                SELECT k.key_id, k.name, c.name, k.environment, k.public_key, k.scope, k.created_at,
                k.used_at
                FROM server_keys k JOIN containers c ON c.folded = k.container
                ORDER BY k.created_at, k.key_id
                """
            ) { row in
                guard let container = ContainerID(row.string(2)),
                    let environment = Environment(rawValue: row.string(3)),
                    let scope = ServerKeyRecord.Scope(rawValue: row.string(5))
                else { throw SQLiteError.unreadable("server_keys") }
                return ServerKeyRecord(
                    keyID: row.string(0), name: row.optionalString(1), container: container,
                    environment: environment, publicKeyDER: row.array(4), scope: scope,
                    createdAt: row.int64(6), usedAt: row.optionalInt64(7))
            }
        }
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
                case .webTokens(let session):
                    try catalog.run(
                        "UPDATE web_tokens SET used_at = ? WHERE session = ?", .integer(time),
                        .bytes(session))
                }
            }
        }
    }

    package func deleteServerKey(keyID: String) throws {
        try write { catalog in
            guard try catalog.run("DELETE FROM server_keys WHERE key_id = ?", .text(keyID)) == 1
            else { throw CatalogRefusal.serverKeyUnknown }
        }
    }
}
