import CloudModel
import Storage

extension SQLCatalog {
    package func add(_ provider: IdentityProviderRecord) throws {
        try write(endsWhatWasTrue: false) { catalog in
            let added = try catalog.run(
                """
                INSERT INTO identity_providers
                (name, issuer, client, secret, team, key_name, trusts_email, uses_form_post,
                made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, .text(provider.name), .text(provider.issuer), .text(provider.client),
                provider.secret.map { .bytes($0) } ?? .nothing,
                .optional(provider.signingKey?.team), .optional(provider.signingKey?.name),
                .integer(provider.trustsEmail ? 1 : 0), .integer(provider.usesFormPost ? 1 : 0),
                .integer(provider.madeAt))
            guard added == 1 else { throw CatalogRefusal.nameTaken }
        }
    }

    package func identityProviders() throws -> [IdentityProviderRecord] {
        try read {
            try $0.all(
                """
                SELECT name, issuer, client, secret, team, key_name, trusts_email, uses_form_post,
                made_at FROM identity_providers ORDER BY name
                """
            ) { row in
                let team = row.optionalString(4)
                let key = row.optionalString(5)
                return IdentityProviderRecord(
                    name: row.string(0), issuer: row.string(1), client: row.string(2),
                    secret: row.isNull(3) ? nil : row.array(3),
                    signingKey: team.flatMap { team in
                        key.map { IdentityProviderRecord.SigningKey(team: team, name: $0) }
                    }, trustsEmail: row.int64(6) != 0, usesFormPost: row.int64(7) != 0,
                    madeAt: row.int64(8))
            }
        }
    }

    package func add(
        _ means: NewSignInMeans, of account: AccountID, now: Milliseconds
    ) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try Self.requireAccount(account, in: catalog)
            switch means {
            case .identity(let identity):
                try Self.add(identity, account, now, catalog)
            case .passkey(let passkey): try Self.add(passkey, account, catalog)
            }
        }
    }

    static func add(
        _ identity: ProvidedIdentity, _ account: AccountID, _ now: Milliseconds,
        _ catalog: CatalogConnection
    ) throws {
        try catalog.run(
            """
            INSERT INTO identities (issuer, subject, account, made_at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, .text(identity.issuer), .text(identity.subject), .text(account.text),
            .integer(now))
        let isOwn = try catalog.exists(
            "SELECT 1 FROM identities WHERE issuer = ? AND subject = ? AND account = ?",
            .text(identity.issuer), .text(identity.subject), .text(account.text))
        guard isOwn else { throw CatalogRefusal.identityTaken }
    }

    package func signInMeans(
        of accounts: Set<AccountID>
    ) throws -> [AccountID: AccountMeans] {
        let ids = accounts.map { CatalogValue.text($0.text) }
        return try read { catalog in
            var means: [AccountID: AccountMeans] = [:]
            let identities = try catalog.all(
                """
                SELECT account, issuer, subject FROM identities WHERE account IN (?*)
                ORDER BY issuer, subject
                """, among: ids
            ) { row in
                (
                    AccountID(row.string(0)),
                    ProvidedIdentity(issuer: row.string(1), subject: row.string(2))
                )
            }
            for (account, identity) in identities {
                means[account, default: AccountMeans()].identities.append(identity)
            }
            for passkey in try Self.passkeys(of: ids, in: catalog) {
                means[passkey.account, default: AccountMeans()].passkeys.append(passkey)
            }
            for factor in try Self.secondFactors(of: ids, in: catalog) {
                means[factor.account, default: AccountMeans()].secondFactor = factor
            }
            return means
        }
    }

    package func delete(_ means: SignInMeans, of account: AccountID) throws {
        let owner = CatalogValue.text(account.text)
        try write(endsWhatWasTrue: false) { catalog in
            switch means {
            case .identity(let identity):
                try catalog.run(
                    "DELETE FROM identities WHERE issuer = ? AND subject = ? AND account = ?",
                    .text(identity.issuer), .text(identity.subject), owner)
            case .passkey(let id):
                try catalog.run(
                    "DELETE FROM passkeys WHERE id = ? AND account = ?", .bytes(id), owner)
            case .secondFactor:
                try catalog.run("DELETE FROM second_factors WHERE account = ?", owner)
            }
        }
    }

}
