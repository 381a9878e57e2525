import Accounts
import CloudModel

/// Makes a token that acts as a user in one environment of a container.
///
/// Its text is in the outcome and nowhere else. Refusals: those of `WebTokens.create`.
package struct CreateWebToken: AdministrativeAction {
    package var name: String { "web-token create" }

    private let place: NamedEnvironment
    private let email: String
    private let seconds: Int?

    /// - Parameters:
    ///   - email: the verified address of the user.
    ///   - seconds: the life of it and of those that replace it; nil for that of a user who does not
    ///     stay signed in.
    package init(
        in place: NamedEnvironment, email: String, seconds: Int? = nil
    ) {
        self.place = place
        self.email = email
        self.seconds = seconds
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(place, in: data, email: email)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> WebTokens.Created {
        let place = try place.found(in: data)
        return try data.webTokens.create(
            container: place.container, environment: place.environment, email: email,
            seconds: seconds, now: data.clock.now())
    }
}
