import CloudModel

/// Another server whose word for who somebody is counts here.
package struct IdentityProviderRecord: Sendable, Equatable {
    /// A key that signs each secret, in place of a plain one: by whose team and under what name.
    package struct SigningKey: Sendable, Equatable {
        package let team: String
        package let name: String

        package init(team: String, name: String) {
            self.team = team
            self.name = name
        }
    }

    /// As people see it.
    package let name: String
    package let issuer: String
    /// What the provider calls this server.
    package let client: String
    /// Sealed; nil for none.
    package let secret: [UInt8]?
    /// Nil where the secret is a plain one.
    package let signingKey: SigningKey?
    /// Whether addresses that it calls verified count as verified here.
    package let trustsEmail: Bool
    /// Whether answers come as forms.
    package let usesFormPost: Bool
    package let madeAt: Milliseconds

    package init(
        name: String, issuer: String, client: String, secret: [UInt8]?, signingKey: SigningKey?,
        trustsEmail: Bool, usesFormPost: Bool, madeAt: Milliseconds
    ) {
        self.name = name
        self.issuer = issuer
        self.client = client
        self.secret = secret
        self.signingKey = signingKey
        self.trustsEmail = trustsEmail
        self.usesFormPost = usesFormPost
        self.madeAt = madeAt
    }
}

/// Who somebody is at a provider.
package struct ProvidedIdentity: Sendable, Hashable {
    package let issuer: String
    package let subject: String

    package init(issuer: String, subject: String) {
        self.issuer = issuer
        self.subject = subject
    }
}

/// Providers, and who is known by them.
package protocol IdentityCatalog: Sendable {
    /// - Throws: `nameTaken` for a name or an issuer that is there.
    func add(_ provider: IdentityProviderRecord) throws
    /// In the order of their names.
    func identityProviders() throws -> [IdentityProviderRecord]
    /// Who was known by it is not any more, until it is added again.
    ///
    /// - Throws: `identityProviderUnknown`.
    func deleteIdentityProvider(name: String) throws

    func account(of identity: ProvidedIdentity) throws -> AccountID?
    /// Makes an account that is known by an identity.
    ///
    /// - Throws: `identityTaken`, `addressTaken`.
    func add(_ account: AccountRecord, knownBy identity: ProvidedIdentity) throws
    /// Has an account be known by an identity, too.
    ///
    /// - Throws: `accountUnknown`, `identityTaken` when it is another's.
    func add(_ identity: ProvidedIdentity, of account: AccountID, now: Milliseconds) throws
    /// In the order of their issuers.
    func identities(of account: AccountID) throws -> [ProvidedIdentity]
    /// Does nothing for another's.
    func delete(_ identity: ProvidedIdentity, of account: AccountID) throws
}
