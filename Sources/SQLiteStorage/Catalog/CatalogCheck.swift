import SQLite

/// Reads the catalog and holds it to what is always true of it.
///
/// Works on a snapshot of its own, also while the catalog is in use.
package struct CatalogCheck: Sendable {
    private let path: String

    package init(path: String) { self.path = path }

    /// What is wrong, a line each; empty when nothing is.
    ///
    /// - Throws: `SQLiteError` when the file is too broken to be read.
    package func problems() throws -> [String] {
        let connection = try Connection(path: path, mode: .readOnly)
        return try connection.snapshot { connection in
            let damage = try connection.integrityCheck()
            guard damage.isEmpty else { return damage }
            return try Self.references.compactMap { reference in
                let statement = try connection.prepare(
                    """
                    SELECT count(*) FROM \(reference.table)
                    WHERE \(reference.column) NOT IN
                    (SELECT \(reference.key) FROM \(reference.target))
                    """)
                defer { statement.reset() }
                let count = try statement.step() ? statement.int64(0) : 0
                return count == 0
                    ? nil : "rows of \(reference.table) without their \(reference.target): \(count)"
            }
        }
    }

    private static let references: [(table: String, column: String, target: String, key: String)] =
        [
            "container_settings", "api_tokens", "server_keys", "web_tokens", "user_names",
            "external_users", "sign_in_codes",
        ].map {
            ($0, "container", "containers", "folded")
        }
        + [
            "addresses", "web_tokens", "external_users", "browser_sessions", "consents",
            "sign_in_codes", "address_codes",
        ].map { ($0, "account", "accounts", "id") }
        + [("api_token_origins", "token_hash", "api_tokens", "hash")]
}
