import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func add(
        _ account: AccountRecord, by entrance: AccountEntrance, now: Milliseconds
    ) throws -> Bool {
        try write(endsWhatWasTrue: false) { catalog in
            guard try Self.opens(entrance, now: now, in: catalog) else { return false }
            try Self.add(account, in: catalog)
            switch entrance {
            case .plain: break
            case .identity(let identity):
                try Self.add(identity, account.id, now, catalog)
            case .invitation: try Self.takeInvitations(of: account, now: now, in: catalog)
            case .firstOperator:
                try Self.set(.all, of: account.id, now, in: catalog)
            }
            return true
        }
    }

    /// Whether somebody may come by a way, whose secret is used up by that.
    private static func opens(
        _ entrance: AccountEntrance, now: Milliseconds, in catalog: CatalogConnection
    ) throws -> Bool {
        switch entrance {
        case .plain, .identity: true
        case .invitation(let link):
            try takeLetterLink(link, .invitation, now: now, in: catalog) != nil
        case .firstOperator(let hash): try takeFirstOperator(hash, now: now, in: catalog)
        }
    }

    private static func add(_ account: AccountRecord, in catalog: CatalogConnection) throws {
        try catalog.run(
            """
            INSERT INTO accounts (id, given_name, family_name, password, created_at)
            VALUES (?, ?, ?, ?, ?)
            """, .text(account.id.text), .optional(account.givenName),
            .optional(account.familyName), .optional(account.password),
            .integer(account.createdAt))
        for held in account.addresses {
            try Self.add(held, to: account.id, in: catalog)
        }
    }

    package func accounts(_ keys: Set<AccountKey>) throws -> [AccountKey: AccountRecord] {
        let ids = keys.compactMap { key in
            if case .id(let id) = key { CatalogValue.text(id.text) } else { nil }
        }
        return try read { catalog in
            var found: [(key: AccountKey, account: AccountRecord)] = try catalog.all(
                "SELECT \(Self.accountColumns) FROM accounts x WHERE x.id IN (?*)", among: ids,
                Self.account
            ).map { (.id($0.id), $0) }
            found += try Self.accounts(havingVerified: keys, in: catalog)
            for key in keys {
                guard let (condition, values) = Self.holding(key) else { continue }
                let account = try catalog.all(
                    "SELECT \(Self.accountColumns) FROM accounts x WHERE x.id = (\(condition))",
                    values, Self.account
                ).first
                if let account { found.append((key, account)) }
            }
            let accounts = try Self.withAddresses(found.map(\.account), in: catalog)
            return Dictionary(uniqueKeysWithValues: zip(found.map(\.key), accounts))
        }
    }

    private static func accounts(
        havingVerified keys: Set<AccountKey>, in catalog: CatalogConnection
    ) throws -> [(key: AccountKey, account: AccountRecord)] {
        let addresses = Dictionary(
            grouping: keys.compactMap { key in
                if case .verified(let address) = key { address } else { nil }
            }, by: \.folded)
        return try catalog.all(
            """
            SELECT \(accountColumns), a.kind, a.folded FROM addresses a
            JOIN accounts x ON x.id = a.account
            WHERE a.verified_at IS NOT NULL AND a.folded IN (?*)
            """, among: addresses.keys.map { .text($0) }
        ) { row in
            let address = addresses[row.string(7)]?.first { $0.kind.rawValue == row.string(6) }
            return address.map { (.verified($0), account(row)) }
        }.compactMap { $0 }
    }

    /// What finds the account that has something; nil for what many are found by at once.
    private static func holding(_ key: AccountKey) -> (String, [CatalogValue])? {
        switch key {
        case .id, .verified: nil
        case .identity(let identity):
            (
                "SELECT account FROM identities WHERE issuer = ? AND subject = ?",
                [.text(identity.issuer), .text(identity.subject)]
            )
        case .passkey(let id): ("SELECT account FROM passkeys WHERE id = ?", [.bytes(id)])
        }
    }

    package func accounts(
        _ request: ListRequest, knownIn some: Set<ContainerID>?
    ) throws -> ListPage<AccountRecord> {
        var query = Self.accountList(request.prefix)
        if let some {
            query.require(
                "x.id IN (SELECT account FROM user_names WHERE container", among: some, ")")
        }
        return try read { [query] catalog in
            let page = try catalog.page(query, request, row: Self.account)
            return ListPage(
                items: try Self.withAddresses(page.items, in: catalog), next: page.next)
        }
    }

    private static func accountList(_ prefix: String) -> ListQuery {
        guard !prefix.isEmpty else {
            return ListQuery(
                name: "accounts", columns: accountColumns, width: 6, tables: "accounts x",
                key: [("x.created_at", .integer), ("x.id", .text)])
        }
        let bounds = ListQuery.Bounds(textPrefix: prefix)
        return ListQuery(
            name: "accounts-found", columns: accountColumns, width: 6,
            tables: "addresses a JOIN accounts x ON x.id = a.account",
            // Of several addresses that are looked for, the first counts.
            condition: """
                NOT EXISTS (SELECT 1 FROM addresses o WHERE o.account = a.account AND o.folded >= ?
                \(bounds.to == nil ? "" : "AND o.folded < ?")
                AND (o.folded, o.kind) < (a.folded, a.kind))
                """, values: [bounds.from] + (bounds.to.map { [$0] } ?? []),
            key: [("a.folded", .text), ("a.kind", .text), ("a.account", .text)], bounds: bounds)
    }

    package func change(_ account: AccountID, by change: AccountChange) throws {
        let ends = change.verified != nil || change.ended != .none
        try write(endsWhatWasTrue: ends) { catalog in
            try Self.requireAccount(account, in: catalog)
            try Self.require(change.basis, of: account, in: catalog)
            if let (address, time) = change.verified {
                try Self.verify(address, of: account, time, catalog)
            }
            try catalog.run(
                """
                UPDATE accounts SET password = coalesce(?, password),
                is_discoverable = coalesce(?, is_discoverable) WHERE id = ?
                """, .optional(change.password),
                change.isDiscoverable.map { .flag($0) } ?? .nothing, .text(account.text))
            guard case .all(let except) = change.ended else { return }
            try Self.endSessions(of: account, except: except, in: catalog)
        }
    }

    private static func require(
        _ basis: AccountChangeBasis, of account: AccountID, in catalog: CatalogConnection
    ) throws {
        switch basis {
        case .account: break
        case .password(let hash): try requirePassword(hash, of: account, in: catalog)
        case .resetLink(let hash, let now):
            let isOperator = try catalog.exists(
                "SELECT 1 FROM operators WHERE account = ?", .text(account.text))
            guard !isOperator,
                try takeLetterLink(hash, .reset, now: now, in: catalog)?.account == account
            else { throw CatalogRefusal.letterLinkUnknown }
        }
    }

    static func requirePassword(
        _ hash: String, of account: AccountID, in catalog: CatalogConnection
    ) throws {
        let isSame = try catalog.exists(
            "SELECT 1 FROM accounts WHERE id = ? AND password = ?", .text(account.text),
            .text(hash))
        guard isSame else { throw CatalogRefusal.passwordChanged }
    }

    private static func verify(
        _ address: Address, of account: AccountID, _ now: Milliseconds,
        _ catalog: CatalogConnection
    ) throws {
        let marked = try catalog.run(
            """
            UPDATE addresses SET verified_at = coalesce(verified_at, ?)
            WHERE account = ? AND kind = ? AND folded = ? AND NOT EXISTS
            (SELECT 1 FROM addresses other WHERE other.kind = ?3 AND other.folded = ?4
            AND other.verified_at IS NOT NULL AND other.account <> ?2)
            """, .integer(now), .text(account.text), .text(address.kind.rawValue),
            .text(address.folded))
        guard marked == 0 else { return }
        // The first address of somebody who came by a provider names the account from then on.
        let isNamed = try catalog.exists(
            """
            SELECT 1 FROM addresses WHERE account = ?1 AND is_primary = 1
            UNION ALL SELECT 1 FROM external_users WHERE account = ?1
            """, .text(account.text))
        let held = AccountAddress(
            address: address, isPrimary: !isNamed && address.kind == .email, verifiedAt: now)
        try Self.add(held, to: account, in: catalog)
    }

    package func delete(
        _ account: AccountID, publicRecords: PublicRecordsFate, by lease: LeaderLease?
    ) throws -> [AccountDeletion] {
        // First: an account that is still there after a crash is deleted again.
        try removeCopies()
        return try write { catalog in
            if let lease { try check(lease, in: catalog) }
            try Self.requireAccount(account, in: catalog)
            let id = CatalogValue.text(account.text)
            try catalog.run(
                """
                INSERT INTO account_deletions
                (account, container, user_record_name, public_records)
                SELECT account, container, user_record_name, ?2 FROM user_names WHERE account = ?1
                ON CONFLICT (account, container) DO UPDATE SET
                user_record_name = excluded.user_record_name,
                public_records = excluded.public_records
                """, id, .text(publicRecords.rawValue))
            for table in Self.tablesByAccount {
                try catalog.run("DELETE FROM \(table) WHERE account = ?", id)
            }
            try Self.dropContainers(of: .account(account), in: catalog)
            try catalog.run("DELETE FROM accounts WHERE id = ?", id)
            return try catalog.all(
                """
                SELECT \(Self.deletionColumns) FROM \(Self.deletionTables)
                WHERE d.account = ?
                """, id, row: Self.accountDeletion)
        }
    }

    /// Everything that ends with its account.
    package static var tablesByAccount: [String] {
        [
            "addresses", "web_tokens", "user_names", "external_users", "browser_sessions",
            "consents",
            "sign_in_codes", "letter_links", "address_codes", "letters", "second_factors",
            "passkeys",
            "identities", "account_endings", "operators", "operator_looks",
        ]
    }

    package func accountDeletions(
        _ request: ListRequest
    ) throws -> ListPage<AccountDeletion> {
        let query = ListQuery(
            name: "deletions", columns: Self.deletionColumns, width: 4,
            tables: Self.deletionTables,
            key: [("d.account", .text), ("d.container", .text)],
            bounds: ListQuery.Bounds(textPrefix: request.prefix))
        return try read { try $0.page(query, request, row: Self.accountDeletion) }
    }

    private static var deletionColumns: String {
        "d.account, c.name, d.user_record_name, d.public_records"
    }
    private static var deletionTables: String {
        "account_deletions d JOIN containers c ON c.folded = d.container"
    }

    package func forget(_ deletions: [AccountDeletion]) throws {
        guard !deletions.isEmpty else { return }
        let pairs = deletions.map { _ in "(?, ?)" }.joined(separator: ", ")
        try write(endsWhatWasTrue: false) {
            try $0.run(
                "DELETE FROM account_deletions WHERE (account, container) IN (VALUES \(pairs))",
                deletions.flatMap { [.text($0.account.text), .text($0.container.folded)] })
        }
    }

    package func bearers(
        of names: Set<UserRecordName>, in container: ContainerID
    ) throws -> [UserRecordName: NameBearer] {
        let named = Dictionary(uniqueKeysWithValues: names.map { ($0.text, $0) })
        let texts = named.keys.map { CatalogValue.text($0) }
        return try read { catalog in
            func found(
                _ column: String, _ table: String, _ bearer: (String) -> NameBearer
            ) throws -> [UserRecordName: NameBearer] {
                let rows = try catalog.all(
                    """
                    SELECT user_record_name, \(column) FROM \(table)
                    WHERE container = ? AND user_record_name IN (?*)
                    """, [.text(container.folded)], among: texts
                ) { (named[$0.string(0)], bearer($0.string(1))) }
                return Dictionary(
                    rows.compactMap { name, bearer in name.map { ($0, bearer) } }
                ) { first, _ in first }
            }
            let accounts = try found("account", "user_names") { .account(AccountID($0)) }
            let keys = try found("key_id", "server_keys") { .serverKey(keyID: $0) }
            return accounts.merging(keys) { account, _ in account }
        }
    }

    package func note(
        _ names: [UserRecordName: AccountID], in container: ContainerID
    ) throws {
        guard !names.isEmpty else { return }
        let accounts = Set(names.values).map { CatalogValue.text($0.text) }
        try write(endsWhatWasTrue: false) { catalog in
            try Self.requireContainer(container, in: catalog)
            let known = Set(
                try catalog.all("SELECT id FROM accounts WHERE id IN (?*)", among: accounts) {
                    $0.string(0)
                })
            guard known.count == accounts.count else { throw CatalogRefusal.accountUnknown }
            var rest = Array(names)[...]
            while !rest.isEmpty {
                let (taken, filled) = CatalogConnection.filled(rest)
                try Self.note(filled, in: container, catalog)
                rest = rest.dropFirst(taken)
            }
        }
    }

    static func note(
        _ names: some Collection<(key: UserRecordName, value: AccountID)>,
        in container: ContainerID,
        _ catalog: CatalogConnection
    ) throws {
        try catalog.run(
            """
            INSERT INTO user_names (container, user_record_name, account)
            VALUES \(names.map { _ in "(?, ?, ?)" }.joined(separator: ", ")) ON CONFLICT DO NOTHING
            """,
            names.flatMap { [.text(container.folded), .text($0.key.text), .text($0.value.text)] })
    }

    static func requireAccount(_ id: AccountID, in catalog: CatalogConnection) throws {
        guard try catalog.exists("SELECT 1 FROM accounts WHERE id = ?", .text(id.text)) else {
            throw CatalogRefusal.accountUnknown
        }
    }

    private static var accountColumns: String {
        "x.id, x.given_name, x.family_name, x.password, x.created_at, x.is_discoverable"
    }

    /// An account without its addresses.
    private static func account(_ row: any CatalogRow) -> AccountRecord {
        AccountRecord(
            id: AccountID(row.string(0)), givenName: row.optionalString(1),
            familyName: row.optionalString(2), addresses: [],
            password: row.optionalString(3), createdAt: row.int64(4),
            isDiscoverable: row.int64(5) != 0)
    }

    private static func withAddresses(
        _ accounts: [AccountRecord], in catalog: CatalogConnection
    ) throws -> [AccountRecord] {
        let held = try catalog.all(
            """
            SELECT account, kind, address, folded, is_primary, verified_at FROM addresses
            WHERE account IN (?*) ORDER BY is_primary DESC, kind, folded
            """, among: Set(accounts.map(\.id)).map { .text($0.text) }
        ) { row in
            guard let kind = Address.Kind(rawValue: row.string(1)) else {
                throw InvalidRow(table: "addresses")
            }
            let address = Address(kind: kind, text: row.string(2), folded: row.string(3))
            return (
                AccountID(row.string(0)),
                AccountAddress(
                    address: address, isPrimary: row.int64(4) != 0,
                    verifiedAt: row.optionalInt64(5))
            )
        }
        let byAccount = Dictionary(grouping: held, by: \.0)
        return accounts.map { account in
            var whole = account
            whole.addresses = byAccount[account.id]?.map(\.1) ?? []
            return whole
        }
    }

    static func add(
        _ held: AccountAddress, to account: AccountID, in catalog: CatalogConnection
    ) throws {
        let added = try catalog.run(
            """
            INSERT INTO addresses (account, kind, folded, address, is_primary, verified_at)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, .text(account.text), .text(held.address.kind.rawValue),
            .text(held.address.folded), .text(held.address.text), .integer(held.isPrimary ? 1 : 0),
            .optional(held.verifiedAt))
        guard added == 1 else { throw CatalogRefusal.addressTaken }
    }

    private static func accountDeletion(_ row: any CatalogRow) throws -> AccountDeletion {
        guard let container = ContainerID(row.string(1)),
            let name = UserRecordName(row.string(2)),
            let fate = PublicRecordsFate(rawValue: row.string(3))
        else { throw InvalidRow(table: "account_deletions") }
        return AccountDeletion(
            account: AccountID(row.string(0)), container: container, userRecordName: name,
            publicRecords: fate)
    }
}
