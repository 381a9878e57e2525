import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func account(
        of user: ExternalUser, in container: ContainerID, orMake made: AccountID,
        now: Milliseconds
    ) throws -> AccountID {
        let known = try externalAccount(user.externalID, in: container)
        if let known, try !names(of: known, differFrom: user) { return known }
        // Former names may be remembered; a new account is not.
        return try write(endsWhatWasTrue: known != nil) { catalog in
            try Self.requireContainer(container, in: catalog)
            let added = try catalog.run(
                """
                INSERT INTO external_users (container, external_id, account) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
                """, .text(container.folded), .text(user.externalID), .text(made.text))
            guard added == 1 else { return try Self.rename(user, in: container, catalog) }
            try catalog.run(
                """
                INSERT INTO accounts (id, given_name, family_name, password, created_at)
                VALUES (?, ?, ?, NULL, ?)
                """, .text(made.text), .optional(user.givenName), .optional(user.familyName),
                .integer(now))
            if let email = user.email {
                let held = AccountAddress(address: email, isPrimary: false, verifiedAt: nil)
                try Self.add(held, to: made, in: catalog)
            }
            return made
        }
    }

    private func externalAccount(
        _ externalID: String, in container: ContainerID
    ) throws -> AccountID? {
        try read { try Self.externalAccount(externalID, in: container, $0) }
    }

    private func names(of account: AccountID, differFrom user: ExternalUser) throws -> Bool {
        guard let known = try self.account(account) else { return true }
        return known.givenName != user.givenName ?? known.givenName
            || known.familyName != user.familyName ?? known.familyName
    }

    private static func externalAccount(
        _ externalID: String, in container: ContainerID, _ catalog: CatalogConnection
    ) throws -> AccountID? {
        try catalog.first(
            "SELECT account FROM external_users WHERE container = ? AND external_id = ?",
            .text(container.folded), .text(externalID)
        ) { AccountID($0.string(0)) }
    }

    private static func rename(
        _ user: ExternalUser, in container: ContainerID, _ catalog: CatalogConnection
    ) throws -> AccountID {
        guard let account = try externalAccount(user.externalID, in: container, catalog) else {
            throw InvalidRow(table: "external_users")
        }
        try catalog.run(
            """
            UPDATE accounts SET given_name = coalesce(?, given_name),
            family_name = coalesce(?, family_name) WHERE id = ?
            """, .optional(user.givenName), .optional(user.familyName), .text(account.text))
        return account
    }

    package func discoverable(
        _ key: PersonKey, in container: ContainerID
    ) throws -> DiscoveredPerson? {
        switch key {
        // The outer row is there for every address, so that each look-up takes the same steps.
        case .address(let address):
            try discovered(
                """
                (SELECT account FROM addresses
                WHERE kind = ?2 AND folded = ?3 AND verified_at IS NOT NULL)
                """, in: container, .text(address.kind.rawValue), .text(address.folded))
        case .name(let name):
            try discovered(
                """
                (SELECT account FROM user_names WHERE container = ?1 AND user_record_name = ?3
                AND ?2 = '')
                """, in: container, .text(""), .text(name.text))
        }
    }

    /// - Parameter account: SQL of the account's ID, with the container as its first parameter.
    private func discovered(
        _ account: String, in container: ContainerID, _ second: CatalogValue, _ third: CatalogValue
    ) throws -> DiscoveredPerson? {
        try read { catalog in
            try catalog.first(
                """
                SELECT n.user_record_name, a.given_name, a.family_name, a.is_discoverable
                FROM (SELECT coalesce(\(account), '') AS id) AS wanted
                LEFT JOIN accounts AS a ON a.id = wanted.id
                LEFT JOIN user_names AS n ON n.account = wanted.id AND n.container = ?1
                """, .text(container.folded), second, third
            ) { row -> DiscoveredPerson? in
                // Nothing is read of who is hidden, as there is nothing of who is not there.
                guard row.optionalInt64(3) == 1,
                    let name = row.optionalString(0).flatMap({ UserRecordName($0) })
                else { return nil }
                return DiscoveredPerson(
                    userRecordName: name, givenName: row.optionalString(1),
                    familyName: row.optionalString(2))
            } ?? nil
        }
    }

}
