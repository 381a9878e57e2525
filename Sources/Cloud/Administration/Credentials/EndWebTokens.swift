import Accounts
import CloudModel

/// Ends web tokens of a user in one environment of a container, each with its successors.
///
/// Refusals: those of `WebTokens.end`, and `CatalogRefusal.containerUnknown`.
package struct EndWebTokens: AdministrativeAction {
    package var name: String { "web-token revoke" }

    package var right: ActionRight { .container }

    private let target: NamedEnvironment
    private let email: String
    private let tokenID: String?

    /// - Parameter tokenID: which of them, as `ListWebTokens` names it; nil for all.
    package init(
        in target: NamedEnvironment, email: String, tokenID: String?
    ) {
        self.target = target
        self.email = email
        self.tokenID = tokenID
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email, item: tokenID)
    }

    /// - Returns: those that were ended.
    package func run(in data: any ServerData, by actor: Operator) throws -> [WebTokens.Session] {
        let target = try target.found(in: data)
        return try data.webTokens.end(
            tokenID: tokenID, container: target.container, environment: target.environment,
            email: email, now: data.clock.now())
    }
}
