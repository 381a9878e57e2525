import SQLite

extension SQLiteCatalog {
    /// What is wrong with the file or with what it says, in lines for the operator.
    ///
    /// - Throws: `SQLiteError` when the file is too broken to be read.
    package func check() throws -> [String] {
        try read { catalog in
            var problems = try catalog.connection.integrityCheck().map { "catalog: \($0)" }
            for rule in SQLiteCatalog.rules {
                let count = try catalog.first("SELECT count(*) FROM \(rule.broken)") {
                    $0.int64(0)
                }
                if let count, count > 0 { problems.append("catalog: \(count) \(rule.name)") }
            }
            return problems
        }
    }

    private struct Rule {
        let name: String
        /// Table and condition of the rows that break it.
        let broken: String
    }

    private static let rules: [Rule] =
        tablesByContainer.map { table in
            Rule(
                name: "rows of \(table) in no container",
                broken: "\(table) WHERE container NOT IN (SELECT folded FROM containers)")
        }
        + tablesByAccount.map { table in
            Rule(
                name: "rows of \(table) of no account",
                broken: """
                    \(table) WHERE account IS NOT NULL AND account NOT IN (SELECT id FROM accounts)
                    """)
        }
        + [
            Rule(
                name: "origins of no API token",
                broken: "api_token_origins WHERE token_hash NOT IN (SELECT hash FROM api_tokens)"),
            Rule(
                name: "accounts without one verified primary address",
                broken: """
                    accounts WHERE id NOT IN (SELECT account FROM external_users) AND 1 <> (SELECT count(*) FROM addresses WHERE account = accounts.id
                    AND is_primary = 1 AND verified_at IS NOT NULL AND kind = 'email')
                    """),
            Rule(
                name: "deleted accounts that are there",
                broken: "departures WHERE account IN (SELECT id FROM accounts)"),
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
