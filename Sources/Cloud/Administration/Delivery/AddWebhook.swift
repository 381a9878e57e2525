import CloudDatabase
import CloudModel
import Delivery

/// Sends every change of a container environment to a URL.
///
/// Refusals: those of `Webhooks.add`.
package struct AddWebhook: AdministrativeAction {
    /// What was made.
    package struct Outcome: Sendable {
        package let name: String
        /// Shown this once.
        package let signingKey: String
        /// Why nothing would be sent there as things are; nil when it would.
        package let obstacle: String?
    }

    package var name: String { "webhook add" }

    package var right: ActionRight { .container.proven }

    private let target: NamedEnvironment
    private let url: String
    private let webhook: String?

    /// - Parameter webhook: its name; nil to have one made up.
    package init(_ url: String, to target: NamedEnvironment, as webhook: String?) {
        self.target = target
        self.url = url
        self.webhook = webhook
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, item: webhook)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        let made = try target.webhooks(in: data).add(url, name: webhook)
        return Outcome(
            name: made.name, signingKey: made.signingKey,
            obstacle: data.obstacle(to: url))
    }
}

extension NamedEnvironment {
    /// - Throws: as `found`; `StorageFailure`.
    func webhooks(in data: any ServerData) throws -> Webhooks {
        try found(in: data).webhooks(in: data)
    }
}

extension ContainerEnvironment {
    /// - Throws: `CatalogRefusal.containerUnknown`, `StorageFailure`.
    func webhooks(in data: any ServerData) throws -> Webhooks {
        Webhooks(
            of: container, environment, in: try data.store(of: container, in: environment),
            secrets: data.secrets, random: data.random
        ) { try ChangeWatch.renew(in: $0) }
    }
}
