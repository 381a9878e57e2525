import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func sealedSecrets(
        ownNamed prefix: String
    ) throws -> [(location: SealedSecretLocation, sealed: [UInt8])] {
        try read { catalog in
            let factors = try catalog.all(
                "SELECT account, secret FROM second_factors ORDER BY account"
            ) { (SealedSecretLocation.secondFactor(AccountID($0.string(0))), $0.array(1)) }
            let providers = try catalog.all(
                """
                SELECT issuer, secret FROM identity_providers WHERE secret IS NOT NULL
                ORDER BY issuer
                """
            ) { (SealedSecretLocation.identityProvider(issuer: $0.string(0)), $0.array(1)) }
            let keys = try catalog.all(
                """
                SELECT c.name, k.topic, k.sealed_key FROM push_keys k
                JOIN containers c ON c.folded = k.container ORDER BY k.container, k.topic
                """
            ) { row in
                guard let container = ContainerID(row.string(0)) else {
                    throw InvalidRow(table: "push_keys")
                }
                return (SealedSecretLocation.pushKey(container, topic: row.string(1)), row.array(2))
            }
            let own = try catalog.all(
                "SELECT name, value FROM secrets WHERE substr(name, 1, length(?1)) = ?1",
                .text(prefix)
            ) { (SealedSecretLocation.own($0.string(0)), $0.array(1)) }
            return factors + providers + keys + own
        }
    }

    package func replace(_ changes: [SealedChange]) throws -> Int {
        try write { catalog in
            try changes.reduce(0) { $0 + (try Self.replace($1, in: catalog)) }
        }
    }

    private static func replace(
        _ change: SealedChange, in catalog: CatalogConnection
    ) throws -> Int {
        let (sealed, previous) = (
            CatalogValue.bytes(change.sealed), CatalogValue.bytes(change.previous)
        )
        switch change.location {
        case .secondFactor(let account):
            return try catalog.run(
                "UPDATE second_factors SET secret = ? WHERE account = ? AND secret = ?", sealed,
                .text(account.text), previous)
        case .identityProvider(let issuer):
            return try catalog.run(
                "UPDATE identity_providers SET secret = ? WHERE issuer = ? AND secret = ?", sealed,
                .text(issuer), previous)
        case .pushKey(let container, let topic):
            return try catalog.run(
                """
                UPDATE push_keys SET sealed_key = ?
                WHERE container = ? AND topic = ? AND sealed_key = ?
                """, sealed, .text(container.folded), .text(topic), previous)
        case .own(let name):
            return try catalog.run(
                "UPDATE secrets SET value = ? WHERE name = ? AND value = ?", sealed, .text(name),
                previous)
        }
    }
}
