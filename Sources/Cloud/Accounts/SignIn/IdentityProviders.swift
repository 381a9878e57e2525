import CloudModel
import Cryptography
import Storage

/// What operators do with identity providers.
package struct IdentityProviders: Sendable {
    /// What opens the secret of a provider.
    package static func subject(_ issuer: String) -> SecretSubject {
        SecretSubject(purpose: "identity provider", owner: issuer)
    }

    private static let secretBytesMax = 4_096

    let catalog: any CatalogStorage
    let secrets: SealedSecrets

    /// Adds an identity provider that the server trusts.
    ///
    /// - Parameters:
    ///   - secret: what the provider takes from this server: a plain one, or with `signingKey` a P-256 key in PEM
    ///     that signs one, as Apple takes. Kept sealed. Nil for none.
    ///   - trustsEmail: whether addresses that it calls verified count as verified here.
    /// - Throws: `nameIllegal`, `issuerIllegal`, `clientSecretIllegal`, `nameTaken`.
    package func add(
        name: String, issuer: String, client: String, secret: [UInt8]?,
        signingKey: IdentityProviderRecord.SigningKey?, trustsEmail: Bool, usesFormPost: Bool,
        now: Milliseconds
    ) throws -> IdentityProviderRecord {
        guard WebURL(issuer)?.isHTTP == true, WebAddress.isLegal(issuer), !issuer.contains("?"),
            !issuer.contains("#")
        else { throw AccountsRefusal.issuerIllegal }
        guard let name = try PlainName.checked(name), let client = try PlainName.checked(client)
        else { throw AccountsRefusal.nameIllegal }
        if let secret {
            guard !secret.isEmpty, secret.count <= Self.secretBytesMax,
                signingKey == nil || Self.key(secret) != nil
            else { throw AccountsRefusal.clientSecretIllegal }
        } else if signingKey != nil {
            throw AccountsRefusal.clientSecretIllegal
        }
        let provider = IdentityProviderRecord(
            name: name, issuer: issuer, client: client,
            secret: secret.map { secrets.seal($0, for: Self.subject(issuer)) },
            signingKey: signingKey, trustsEmail: trustsEmail, usesFormPost: usesFormPost,
            madeAt: now)
        try catalog.add(provider)
        return provider
    }

    package func list() throws -> [IdentityProviderRecord] { try catalog.identityProviders() }

    /// - Throws: `identityProviderUnknown`.
    package func remove(name: String) throws { try catalog.delete(.identityProvider(name: name)) }

    /// The key in a text of PEM; nil for none.
    static func key(_ secret: [UInt8]) -> P256PrivateKey? {
        // NB: anything else is refused with the same words.
        try? P256PrivateKey(pem: String(decoding: secret, as: UTF8.self))
    }
}
