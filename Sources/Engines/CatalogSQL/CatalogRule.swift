/// Something that is always true of a catalog.
package struct CatalogRule: Sendable {
    /// What rows are that break it.
    fileprivate let name: String
    /// Table and condition of the rows that break it.
    fileprivate let broken: String

    /// What is wrong, one line for each rule that rows break.
    ///
    /// - Parameter count: how many rows a table has under a condition.
    package static func problems(
        of rules: [CatalogRule], count: (_ statement: String) throws -> Int64
    ) rethrows -> [String] {
        try rules.compactMap { rule in
            let count = try count("SELECT count(*) FROM \(rule.broken)")
            return count == 0 ? nil : "\(count) \(rule.name)"
        }
    }
}

extension SQLCatalog {
    /// What is always true of a catalog.
    ///
    /// - Parameter isNot: the condition that a column does not have so many bytes.
    package static func rules(
        isNot: (_ column: String, _ byteCount: Int) -> String
    ) -> [CatalogRule] {
        tablesByContainer.map { table in
            CatalogRule(
                name: "rows of \(table) in no container",
                broken: "\(table) WHERE container NOT IN (SELECT folded FROM containers)")
        }
            + tablesByAccount.map { table in
                CatalogRule(
                    name: "rows of \(table) of no account",
                    broken: """
                        \(table) WHERE account IS NOT NULL AND account NOT IN (SELECT id FROM accounts)
                        """)
            }
            + [
                CatalogRule(
                    name: "stores that no file can be told by",
                    broken: "stores WHERE \(isNot("name", 16))"),
                CatalogRule(
                    name: "origins of no API token",
                    broken:
                        "api_token_origins WHERE token_hash NOT IN (SELECT hash FROM api_tokens)"),
                CatalogRule(
                    name: "accounts without one verified primary address",
                    broken: """
                        accounts WHERE id NOT IN (SELECT account FROM external_users)
                        AND id NOT IN (SELECT account FROM identities)
                        AND id NOT IN (SELECT account FROM passkeys) AND 1 <> (
                            SELECT count(*) FROM addresses WHERE account = accounts.id
                            AND is_primary = 1 AND verified_at IS NOT NULL AND kind = 'email')
                        """),
                CatalogRule(
                    name: "deleted accounts that are there",
                    broken: "account_deletions WHERE account IN (SELECT id FROM accounts)"),
                CatalogRule(
                    name: "API tokens that no token can match",
                    broken: "api_tokens WHERE \(isNot("hash", 32))"),
                CatalogRule(
                    name: "web tokens that no token can match or that end before they begin",
                    broken: """
                        web_tokens WHERE \(isNot("hash", 32))
                        OR expires_at <= made_at
                        """),
                CatalogRule(
                    name: "server keys of another form",
                    broken: """
                        server_keys WHERE length(key_id) <> 64 OR length(public_key) <> 91
                        OR scope NOT IN ('public', 'container')
                        """),
            ]
    }
}
