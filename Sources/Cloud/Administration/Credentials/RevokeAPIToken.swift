import Accounts

/// Ends an API token: no request that comes later is let in by it.
///
/// Refusals: `CatalogRefusal.apiTokenUnknown`.
package struct RevokeAPIToken: AdministrativeAction {
    package var name: String { "api-token revoke" }

    private let tokenName: String

    package init(name: String) { tokenName = name }

    package func subject(in data: any ServerData) -> ActionSubject {
        ActionSubject(item: tokenName)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.apiTokens.revoke(name: tokenName)
    }
}
