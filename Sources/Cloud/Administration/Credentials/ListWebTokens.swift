import Accounts
import CloudModel
import Storage

/// Lists who is signed in to one environment of a container, without the tokens themselves; searched by the
/// tokens' IDs.
///
/// Refusals: those of `WebTokens.sessions`, and `CatalogRefusal.containerUnknown`.
package struct ListWebTokens: AdministrativeAction {
    package var name: String { "web-token list" }

    package var right: ActionRight { .container }

    private let target: NamedEnvironment
    private let email: String?
    private let request: ListRequest

    /// - Parameter email: whose; nil for everybody's.
    package init(
        in target: NamedEnvironment, email: String? = nil, _ request: ListRequest = ListRequest()
    ) {
        self.target = target
        self.request = request
        self.email = email
    }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email)
    }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> ListPage<WebTokens.Session> {
        let target = try target.found(in: data)
        return try data.webTokens.sessions(
            container: target.container, environment: target.environment, email: email,
            now: data.clock.now(), request)
    }
}
