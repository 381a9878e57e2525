import Accounts

/// Ends an API token: no request that comes later is let in by it.
///
/// Refusals: `CatalogRefusal.apiTokenUnknown`.
package struct RevokeAPIToken: AdministrativeAction {
    package var name: String { "api-token revoke" }

    package var right: ActionRight { .container }

    private let tokenName: String

    package init(name: String) { tokenName = name }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        let token = try data.apiTokens.find(name: tokenName)
        return ActionSubject(
            container: token.container, environment: token.environment, item: tokenName)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.apiTokens.revoke(name: tokenName)
    }
}
