import Accounts
import Storage

/// Lets people sign in by way of a provider.
///
/// Refusals: those of `IdentityProviders.add`.
package struct AddIdentityProvider: AdministrativeAction {
    /// What was added.
    package struct Outcome: Sendable {
        package let name: String
        /// What is to be registered with the provider.
        package let redirectURL: String
    }

    package var name: String { "identity-provider add" }

    package var right: ActionRight { .server.proven }

    private let provider: String
    private let issuer: String
    private let client: String
    private let secret: [UInt8]?
    private let team: String?
    private let keyName: String?
    private let trustsEmail: Bool
    private let usesFormPost: Bool

    package init(
        name: String, issuer: String, client: String, secret: [UInt8]?, team: String?,
        keyName: String?, trustsEmail: Bool, usesFormPost: Bool
    ) {
        provider = name
        self.issuer = issuer
        self.client = client
        self.secret = secret
        self.team = team
        self.keyName = keyName
        self.trustsEmail = trustsEmail
        self.usesFormPost = usesFormPost
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(item: issuer)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        guard (team == nil) == (keyName == nil) else { throw AccountsRefusal.clientSecretIllegal }
        let key = team.flatMap { team in
            keyName.map { IdentityProviderRecord.SigningKey(team: team, name: $0) }
        }
        let added = try data.accountUseCases.identityProviders.add(
            name: provider, issuer: issuer, client: client, secret: secret, signingKey: key,
            trustsEmail: trustsEmail, usesFormPost: usesFormPost, now: data.clock.now())
        return Outcome(name: added.name, redirectURL: data.accountUseCases.providerRedirectURL)
    }
}

/// Lists the providers.
package struct ListIdentityProviders: AdministrativeAction {
    package var name: String { "identity-provider list" }

    package var right: ActionRight { .server }

    package init() {}

    package var changes: Bool { false }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> [IdentityProviderRecord] {
        try data.accountUseCases.identityProviders.list()
    }
}

/// Lets nobody sign in by way of a provider any more.
///
/// Refusals: `identityProviderUnknown`.
package struct RemoveIdentityProvider: AdministrativeAction {
    package var name: String { "identity-provider remove" }

    package var right: ActionRight { .server }

    private let provider: String

    package init(_ name: String) { provider = name }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(item: provider)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.accountUseCases.identityProviders.remove(name: provider)
    }
}
