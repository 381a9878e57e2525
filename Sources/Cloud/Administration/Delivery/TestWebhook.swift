import Delivery

/// Posts to a webhook once, of no change, and waits for what comes of it.
///
/// Refusals: `DeliveryRefusal.webhookUnknown`.
package struct TestWebhook: AdministrativeAction {
    package var name: String { "webhook test" }

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

    package func run(in data: any ServerData, by actor: Operator) throws -> DeliveryOutcome {
        try data.sendOnce(
            try target.webhooks(in: data).testNotice(of: webhook, now: data.clock.now()))
    }
}
