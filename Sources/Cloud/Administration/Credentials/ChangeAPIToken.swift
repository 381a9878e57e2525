import Accounts
import Storage

/// Changes the pages that may use an API token, and where sign-in delivers; apps keep the token that they have.
///
/// Refusals: those of `APITokens.change`.
package struct ChangeAPIToken: AdministrativeAction {
    package var name: String { "api-token set" }

    package var right: ActionRight { .container.proven }

    private let tokenName: String
    private let origins: [String]?
    private let callback: String?

    /// - Parameters:
    ///   - origins: in place of those before, empty for any; nil to leave them.
    ///   - callback: `post-message`, a URL, or `none`; nil to leave it.
    package init(name: String, origins: [String]?, callback: String?) {
        tokenName = name
        self.origins = origins
        self.callback = callback
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        let token = try data.apiTokens.find(name: tokenName)
        return ActionSubject(
            container: token.container, environment: token.environment, item: tokenName)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> APITokenRecord {
        try data.apiTokens.change(name: tokenName, origins: origins, callback: callback)
    }
}
