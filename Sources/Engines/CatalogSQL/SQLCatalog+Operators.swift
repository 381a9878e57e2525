import CloudModel
import Storage

/// Who has containers as an operator.
enum RightsHolder {
    case account(AccountID)
    case token(name: String)
    case invitation(Address)

    var text: String {
        switch self {
        case .account(let id): "account:\(id.text)"
        case .token(let name): "token:\(name)"
        case .invitation(let address): "invitation:\(address.folded)"
        }
    }
}

extension SQLCatalog {
    package func set(_ rights: OperatorRights?, of account: AccountID, now: Milliseconds) throws {
        try write(endsWhatWasTrue: false) {
            try Self.set(rights, of: account, now, in: $0)
        }
    }

    static func set(
        _ rights: OperatorRights?, of account: AccountID, _ now: Milliseconds,
        in catalog: CatalogConnection
    ) throws {
        let id = CatalogValue.text(account.text)
        try catalog.run(
            "DELETE FROM browser_sessions WHERE account = ? AND kind = ?", id,
            .text(BrowserSession.Kind.console.rawValue))
        guard let rights else {
            guard try catalog.run("DELETE FROM operators WHERE account = ?", id) == 1 else {
                throw CatalogRefusal.operatorUnknown
            }
            return try dropContainers(of: .account(account), in: catalog)
        }
        try requireAccount(account, in: catalog)
        try catalog.run(
            """
            INSERT INTO operators (account, has_all, is_read_only, made_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (account) DO UPDATE SET has_all = excluded.has_all,
            is_read_only = excluded.is_read_only
            """, id, .flag(rights.hasAllContainers), .flag(rights.isReadOnly), .integer(now))
        try set(rights, of: .account(account), in: catalog)
    }

    package func operators(_ request: ListRequest) throws -> ListPage<OperatorRecord> {
        let query = ListQuery(
            name: "operators", columns: Self.operatorColumns, width: 4,
            tables: "operators", key: [("account", .text)],
            bounds: ListQuery.Bounds(textPrefix: request.prefix))
        return try read { catalog in
            try catalog.page(query, request) {
                try Self.operatorRecord($0, in: catalog)
            }
        }
    }

    private static var operatorColumns: String {
        "account, has_all, is_read_only, made_at"
    }

    private static func operatorRecord(
        _ row: any CatalogRow, in catalog: CatalogConnection
    ) throws -> OperatorRecord {
        let account = AccountID(row.string(0))
        return OperatorRecord(
            account: account,
            rights: try rights(row, from: 1, of: .account(account), in: catalog),
            madeAt: row.int64(3))
    }

    package func add(_ invitation: OperatorInvitation, now: Milliseconds) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try catalog.run(
                """
                DELETE FROM operator_containers WHERE holder IN (SELECT 'invitation:' || folded
                FROM operator_invitations WHERE expires_at <= ?)
                """, .integer(now))
            try catalog.run(
                "DELETE FROM operator_invitations WHERE expires_at <= ?", .integer(now))
            try catalog.run(
                """
                INSERT INTO operator_invitations
                (folded, has_all, is_read_only, expires_at) VALUES (?, ?, ?, ?)
                ON CONFLICT (folded) DO UPDATE SET has_all = excluded.has_all,
                is_read_only = excluded.is_read_only, expires_at = excluded.expires_at
                """, .text(invitation.address.folded),
                .flag(invitation.rights.hasAllContainers), .flag(invitation.rights.isReadOnly),
                .integer(invitation.expiresAt))
            try Self.set(
                invitation.rights, of: .invitation(invitation.address), in: catalog)
        }
    }

    /// Makes an account the operator that one of its addresses was invited as.
    static func takeInvitations(
        of account: AccountRecord, now: Milliseconds, in catalog: CatalogConnection
    ) throws {
        for held in account.addresses {
            guard let rights = try takeInvitation(of: held.address, now: now, in: catalog) else {
                continue
            }
            try set(rights, of: account.id, now, in: catalog)
        }
    }

    private static func takeInvitation(
        of address: Address, now: Milliseconds, in catalog: CatalogConnection
    ) throws -> OperatorRights? {
        let holder = RightsHolder.invitation(address)
        let rights = try catalog.first(
            """
            SELECT has_all, is_read_only FROM operator_invitations
            WHERE folded = ? AND expires_at > ?
            """, .text(address.folded), .integer(now)
        ) { try Self.rights($0, from: 0, of: holder, in: catalog) }
        try catalog.run(
            "DELETE FROM operator_invitations WHERE folded = ?", .text(address.folded))
        try dropContainers(of: holder, in: catalog)
        return rights
    }

    // MARK: The containers of a holder

    static func set(
        _ rights: OperatorRights, of holder: RightsHolder, in catalog: CatalogConnection
    ) throws {
        try dropContainers(of: holder, in: catalog)
        for container in rights.containers ?? [] {
            try requireContainer(container, in: catalog)
            try catalog.run(
                "INSERT INTO operator_containers (holder, container) VALUES (?, ?)",
                .text(holder.text), .text(container.folded))
        }
    }

    static func dropContainers(
        of holder: RightsHolder, in catalog: CatalogConnection
    ) throws {
        try catalog.run("DELETE FROM operator_containers WHERE holder = ?", .text(holder.text))
    }

    /// The rights in a row that has `has_all` and `is_read_only` from a column on.
    static func rights(
        _ row: any CatalogRow, from column: Int32, of holder: RightsHolder,
        in catalog: CatalogConnection
    ) throws -> OperatorRights {
        let isReadOnly = row.int64(column + 1) != 0
        guard row.int64(column) == 0 else {
            return OperatorRights(containers: nil, isReadOnly: isReadOnly)
        }
        let names = try catalog.all(
            """
            SELECT c.name FROM operator_containers o JOIN containers c ON c.folded = o.container
            WHERE o.holder = ?
            """, .text(holder.text)
        ) { $0.string(0) }
        return OperatorRights(
            containers: Set(names.compactMap { ContainerID($0) }), isReadOnly: isReadOnly)
    }
}
