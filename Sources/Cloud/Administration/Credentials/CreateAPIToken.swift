import Accounts
import CloudModel
import Storage

/// Makes a token that an app calls one environment of a container with.
///
/// Its text is in the outcome and nowhere else. Refusals: those of `APITokens.create`.
package struct CreateAPIToken: AdministrativeAction {
    package var name: String { "api-token create" }

    package var right: ActionRight { .container.proven }

    private let target: NamedEnvironment
    private let tokenName: String?
    private let origins: [String]
    private let callback: String?

    /// - Parameters:
    ///   - name: unique over the server; made up when nil.
    ///   - origins: the pages that may use it; empty for any.
    ///   - callback: `post-message` or a URL; nil for none.
    package init(
        in target: NamedEnvironment, name: String? = nil, origins: [String] = [],
        callback: String? = nil
    ) {
        self.target = target
        tokenName = name
        self.origins = origins
        self.callback = callback
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, item: tokenName)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> APITokens.Created {
        let target = try target.found(in: data)
        return try data.apiTokens.create(
            container: target.container, environment: target.environment,
            name: tokenName, origins: origins, callback: callback, now: data.clock.now())
    }
}
