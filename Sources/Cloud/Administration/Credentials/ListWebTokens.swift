import Accounts
import CloudModel

/// Lists who is signed in to one environment of a container, without the tokens themselves.
///
/// Refusals: those of `WebTokens.sessions`, and `CatalogRefusal.containerUnknown`.
package struct ListWebTokens: AdministrativeAction {
    package var name: String { "web-token list" }

    private let place: NamedEnvironment
    private let email: String?

    /// - Parameter email: whose; nil for everybody's.
    package init(in place: NamedEnvironment, email: String? = nil) {
        self.place = place
        self.email = email
    }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(place, in: data, email: email)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> [WebTokens.Session] {
        let place = try place.found(in: data)
        return try data.webTokens.sessions(
            container: place.container, environment: place.environment, email: email,
            now: data.clock.now())
    }
}
