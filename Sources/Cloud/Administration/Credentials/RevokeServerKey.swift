import Accounts

/// Ends a server key: no request that comes later is let in by it.
///
/// Refusals: `CatalogRefusal.serverKeyUnknown`.
package struct RevokeServerKey: AdministrativeAction {
    package var name: String { "server-key revoke" }

    package var right: ActionRight { .container }

    private let keyID: String

    package init(keyID: String) { self.keyID = keyID }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        let key = try data.serverKeys.find(keyID: keyID)
        return ActionSubject(container: key.container, environment: key.environment, item: keyID)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.serverKeys.revoke(keyID: keyID)
    }
}
