import Storage
import StoredRows

/// A table of the catalog as it goes with a container that is copied.
struct CopiedTable {
    /// What becomes of a row of which the other catalog has another version.
    enum Meeting {
        /// The other catalog's stays: it is of the same person, or the server's own.
        case kept
        /// It comes beside those that are there, but for one that says the same: the table numbers its rows.
        case added
        /// Nothing is taken. What the row is, and which of its fields names it.
        case refused(_ what: String, named: Int)
    }

    let kind: RowKind
    /// Which rows go, in SQL; nil for all.
    let condition: String?
    let meeting: Meeting

    init(
        _ name: String, key: String, _ others: String, where condition: String? = nil,
        _ meeting: Meeting
    ) {
        kind = RowKind(name, key: key, others)
        self.condition = condition
        self.meeting = meeting
    }

    /// What goes with one container (`?1` in the conditions, its folded name): it and the people who use it.
    static let ofContainer =
        containers(here, named: "folded = ?1", tokens: "token_hash IN (\(tokens))")
        + people("id IN (\(users))", of: "account IN (\(users))")
        + [browsers(where: "kind = 'pages' AND account IN (\(users))")]

    /// What goes with all of them; letters that wait do not, since their server sends them.
    static let ofAll =
        [
            CopiedTable(
                "secrets", key: "name:t", "value:b", where: "name NOT IN (\(LocalSecret.list))",
                .kept),
            CopiedTable(
                "identity_providers", key: "name:t",
                """
                issuer:t client:t secret:b team:t key_name:t trusts_email uses_form_post made_at
                """, .kept),
        ] + containers(nil, named: nil, tokens: nil) + people(nil, of: nil)
        + [browsers(where: nil)] + servers

    private static let here = "container = ?1"
    private static let tokens = "SELECT hash FROM api_tokens WHERE container = ?1"
    private static let users = """
        SELECT account FROM user_names WHERE container = ?1 \
        UNION SELECT account FROM external_users WHERE container = ?1 \
        UNION SELECT account FROM web_tokens WHERE container = ?1
        """

    private static func containers(
        _ here: String?, named: String?, tokens: String?
    ) -> [CopiedTable] {
        let stays = "key <> '\(ContainerRecord.movedKey)'"
        return [
            CopiedTable(
                "containers", key: "folded:t", "name:t created_at", where: named,
                .refused("container", named: 1)),
            CopiedTable(
                "container_settings", key: "container:t key:t", "value:t",
                where: here.map { "\($0) AND \(stays)" } ?? stays,
                .refused("setting of a container", named: 1)),
            CopiedTable(
                "container_icons", key: "container:t", "name:t picture:b", where: here,
                .refused("icon of a container", named: 0)),
            CopiedTable(
                "stores", key: "container:t environment:t", "name:b", where: here,
                .refused("store of a container", named: 0)),
            CopiedTable(
                "api_tokens", key: "hash:b",
                "name:t container:t environment:t callback:t created_at used_at", where: here,
                .refused("API token", named: 1)),
            CopiedTable(
                "api_token_origins", key: "token_hash:b origin:t", "", where: tokens, .kept),
            CopiedTable(
                "server_keys", key: "key_id:t",
                """
                name:t container:t environment:t public_key:b scope:t created_at used_at \
                user_record_name:t
                """, where: here, .refused("server key", named: 0)),
            CopiedTable(
                "push_keys", key: "container:t topic:t",
                "key_id:t team_id:t sealed_key:b created_at", where: here,
                .refused("push key", named: 1)),
            CopiedTable(
                "consents", key: "account:t token_hash:b origin:t", "", where: tokens, .kept),
        ] + usersNames(here)
    }

    private static func usersNames(_ here: String?) -> [CopiedTable] {
        [
            CopiedTable(
                "external_users", key: "container:t external_id:t", "account:t", where: here,
                .refused("user of an app", named: 1)),
            CopiedTable(
                "user_names", key: "container:t user_record_name:t", "account:t", where: here,
                .refused("user record name", named: 1)),
            CopiedTable(
                "account_deletions", key: "account:t container:t",
                "user_record_name:t public_records:t", where: here, .kept),
            CopiedTable(
                "web_tokens", key: "hash:b",
                """
                session:b account:t container:t environment:t made_at expires_at begun_at used_at \
                origin:t device:t
                """, where: here, .refused("web token of the account", named: 2)),
            CopiedTable(
                "sign_in_codes", key: "hash:b",
                """
                account:t container:t environment:t seconds challenge:b expires_at origin:t device:t
                """, where: here, .kept),
        ]
    }

    private static func people(_ these: String?, of their: String?) -> [CopiedTable] {
        [
            CopiedTable(
                "accounts", key: "id:t",
                "given_name:t family_name:t password:t created_at is_discoverable", where: these,
                .kept),
            CopiedTable(
                "addresses", key: "account:t kind:t folded:t", "address:t is_primary verified_at",
                where: their, .kept),
            CopiedTable(
                "second_factors", key: "account:t", "secret:b last_step recovery:b made_at",
                where: their, .kept),
            CopiedTable(
                "passkeys", key: "id:b",
                "account:t public_key:b sign_count name:t made_at used_at", where: their, .kept),
            CopiedTable(
                "identities", key: "issuer:t subject:t", "account:t made_at", where: their,
                .refused("identity at", named: 0)),
            CopiedTable(
                "account_endings", key: "account:t", "due_at public_records:t", where: their, .kept),
            CopiedTable(
                "address_codes", key: "account:t kind:t folded:t",
                "address:t hash:b tries_left expires_at", where: their, .kept),
        ]
    }

    private static func browsers(where condition: String?) -> CopiedTable {
        CopiedTable(
            "browser_sessions", key: "hash:b",
            "kind:t account:t device:t made_at used_at proved_at expires_at", where: condition,
            .kept)
    }

    private static let servers = [
        CopiedTable(
            "letter_links", key: "hash:b",
            "purpose:t account:t kind:t folded:t address:t return_path:t expires_at", .kept),
        CopiedTable("operators", key: "account:t", "has_all is_read_only made_at", .kept),
        CopiedTable("operator_containers", key: "holder:t container:t", "", .kept),
        CopiedTable(
            "operator_invitations", key: "folded:t", "has_all is_read_only expires_at", .kept),
        CopiedTable(
            "operator_tokens", key: "hash:b",
            "name:t has_all is_read_only made_at expires_at used_at",
            .refused("operator token", named: 1)),
        CopiedTable(
            "operator_looks", key: "account:t time kind:t action:t container:t", "", .added),
    ]
}
