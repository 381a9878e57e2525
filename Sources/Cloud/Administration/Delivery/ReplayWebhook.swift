import Delivery

/// Sends a webhook everything again that was given up.
///
/// Refusals: `DeliveryRefusal.webhookUnknown`.
package struct ReplayWebhook: AdministrativeAction {
    package var name: String { "webhook replay" }

    package var right: ActionRight { .container }

    private let target: NamedEnvironment
    private let webhook: String

    package init(_ webhook: String, of target: NamedEnvironment) {
        self.target = target
        self.webhook = webhook
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, item: webhook)
    }

    /// - Returns: how many notices.
    package func run(in data: any ServerData, by actor: Operator) throws -> Int {
        try target.webhooks(in: data).replay(webhook)
    }
}
