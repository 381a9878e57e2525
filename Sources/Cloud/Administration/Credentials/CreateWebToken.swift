import Accounts
import CloudModel

/// Makes a token that acts as a user in one environment of a container.
///
/// Its text is in the outcome and nowhere else. Refusals: those of `WebTokens.create`.
package struct CreateWebToken: AdministrativeAction {
    package var name: String { "web-token create" }

    package var right: ActionRight { .container.proven }

    package var looksAtPrivateData: Bool { true }

    private let target: NamedEnvironment
    private let email: String
    private let seconds: Int?

    /// - Parameters:
    ///   - email: the verified address of the user.
    ///   - seconds: the life of it and of those that replace it; nil for that of a user who does not
    ///     stay signed in.
    package init(
        in target: NamedEnvironment, email: String, seconds: Int? = nil
    ) {
        self.target = target
        self.email = email
        self.seconds = seconds
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> WebTokens.Created {
        let target = try target.found(in: data)
        return try data.webTokens.create(
            container: target.container, environment: target.environment, email: email,
            seconds: seconds, now: data.clock.now())
    }
}
