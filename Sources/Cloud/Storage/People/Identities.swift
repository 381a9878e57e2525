import CloudModel

/// Another server that this one trusts to identify people.
package struct IdentityProviderRecord: Sendable, Equatable {
    /// A key that signs each secret, instead of a plain secret: whose team it is of, and under what name.
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
    /// The sealed secret; nil for none.
    package let secret: [UInt8]?
    /// The key that signs secrets; nil when the secret is a plain one.
    package let signingKey: SigningKey?
    /// Whether addresses that the provider calls verified count as verified here.
    package let trustsEmail: Bool
    /// Whether the provider sends its answers as forms.
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

/// The name by which a provider knows a person.
package struct ProvidedIdentity: Sendable, Hashable {
    package let issuer: String
    package let subject: String

    package init(issuer: String, subject: String) {
        self.issuer = issuer
        self.subject = subject
    }
}

/// Providers, and the people whom they know.
package protocol IdentityCatalog: Sendable {
    /// Adds a provider.
    ///
    /// - Throws: `nameTaken` when the name or the issuer is there already.
    func add(_ provider: IdentityProviderRecord) throws
    /// All providers, in the order of their names.
    func identityProviders() throws -> [IdentityProviderRecord]
    /// Adds a means by which an account is signed in to.
    ///
    /// - Throws: `accountUnknown`; `identityTaken` for an identity of another account, `passkeyTaken` when a passkey
    ///   has this id already.
    func add(_ means: NewSignInMeans, of account: AccountID, now: Milliseconds) throws
    /// All by which accounts are signed in to, beside a password; nothing of those that have nothing else.
    func signInMeans(of accounts: Set<AccountID>) throws -> [AccountID: AccountMeans]
    /// Deletes a means by which an account is signed in to; does nothing when it has no such one.
    func delete(_ means: SignInMeans, of account: AccountID) throws
}

/// All by which an account is signed in to, beside a password.
package struct AccountMeans: Sendable {
    /// In the order of their issuers.
    package var identities: [ProvidedIdentity]
    /// In the order in which they were made.
    package var passkeys: [StoredPasskey]
    package var secondFactor: SecondFactor?

    package init(
        identities: [ProvidedIdentity] = [], passkeys: [StoredPasskey] = [],
        secondFactor: SecondFactor? = nil
    ) {
        self.identities = identities
        self.passkeys = passkeys
        self.secondFactor = secondFactor
    }
}

extension IdentityCatalog {
    package func signInMeans(of account: AccountID) throws -> AccountMeans {
        try signInMeans(of: [account])[account] ?? AccountMeans()
    }

    package func identities(of account: AccountID) throws -> [ProvidedIdentity] {
        try signInMeans(of: account).identities
    }

    package func passkeys(of account: AccountID) throws -> [StoredPasskey] {
        try signInMeans(of: account).passkeys
    }

    package func secondFactor(of account: AccountID) throws -> SecondFactor? {
        try signInMeans(of: account).secondFactor
    }
}

/// What an account gets, to be signed in to by it beside a password.
package enum NewSignInMeans: Sendable {
    case identity(ProvidedIdentity)
    case passkey(StoredPasskey)
}

/// By what somebody shows who they are, beside a password.
package enum SignInMeans: Sendable {
    case identity(ProvidedIdentity)
    case passkey(id: [UInt8])
    case secondFactor
}
