import Delivery

/// Ends a webhook, with all that waits for it and was given up.
///
/// Refusals: `DeliveryRefusal.webhookUnknown`.
package struct RemoveWebhook: AdministrativeAction {
    package var name: String { "webhook remove" }

    package var right: ActionRight { .container }

    private let target: NamedEnvironment
    private let webhook: String

    package init(_ webhook: String, from target: NamedEnvironment) {
        self.target = target
        self.webhook = webhook
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, item: webhook)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try target.webhooks(in: data).remove(webhook)
    }
}
