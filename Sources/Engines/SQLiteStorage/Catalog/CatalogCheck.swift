import SQLite

/// Reads the catalog and holds it to what is always true of it.
///
/// Works on a snapshot of its own, also while the catalog is in use.
package struct CatalogCheck: Sendable {
    private struct Rule {
        let name: String
        /// Table and condition of the rows that break it.
        let broken: String
    }

    private let path: String

    package init(path: String) { self.path = path }

    /// What is wrong with the file or with what it says, in lines for the operator.
    ///
    /// - Throws: `SQLiteError` when the file is too broken to be read.
    package func problems() throws -> [String] {
        let connection = try Connection(path: path, mode: .readOnly)
        return try connection.snapshot { connection in
            let damage = try connection.integrityCheck()
            // Rules would only repeat in other words what a damaged file shows.
            guard damage.isEmpty else { return damage }
            return try Self.rules.compactMap { rule in
                let statement = try connection.prepare("SELECT count(*) FROM \(rule.broken)")
                defer { statement.reset() }
                let count = try statement.step() ? statement.int64(0) : 0
                return count == 0 ? nil : "\(count) \(rule.name)"
            }
        }
    }

    private static let rules: [Rule] =
        SQLiteCatalog.tablesByContainer.map { table in
            Rule(
                name: "rows of \(table) in no container",
                broken: "\(table) WHERE container NOT IN (SELECT folded FROM containers)")
        }
        + SQLiteCatalog.tablesByAccount.map { table in
            Rule(
                name: "rows of \(table) of no account",
                broken: """
                    \(table) WHERE account IS NOT NULL AND account NOT IN (SELECT id FROM accounts)
                    """)
        }
        + [
            Rule(
                name: "stores that no file can be told by",
                broken: "stores WHERE typeof(name) <> 'blob' OR length(name) <> 16"),
            Rule(
                name: "origins of no API token",
                broken: "api_token_origins WHERE token_hash NOT IN (SELECT hash FROM api_tokens)"),
            Rule(
                name: "accounts without one verified primary address",
                broken: """
                    accounts WHERE id NOT IN (SELECT account FROM external_users)
                    AND id NOT IN (SELECT account FROM identities)
                    AND id NOT IN (SELECT account FROM passkeys) AND 1 <> (
                        SELECT count(*) FROM addresses WHERE account = accounts.id
                        AND is_primary = 1 AND verified_at IS NOT NULL AND kind = 'email')
                    """),
            Rule(
                name: "deleted accounts that are there",
                broken: "account_deletions WHERE account IN (SELECT id FROM accounts)"),
            Rule(
                name: "API tokens that no token can match",
                broken: "api_tokens WHERE typeof(hash) <> 'blob' OR length(hash) <> 32"),
            Rule(
                name: "web tokens that no token can match or that end before they begin",
                broken: """
                    web_tokens WHERE typeof(hash) <> 'blob' OR length(hash) <> 32
                    OR expires_at <= made_at
                    """),
            Rule(
                name: "server keys of another form",
                broken: """
                    server_keys WHERE length(key_id) <> 64 OR length(public_key) <> 91
                    OR scope NOT IN ('public', 'container')
                    """),
        ]
}
