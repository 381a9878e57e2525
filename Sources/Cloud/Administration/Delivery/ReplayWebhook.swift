import Delivery

/// Sends a webhook everything again that was given up.
///
/// Refusals: `DeliveryRefusal.webhookUnknown`.
package struct ReplayWebhook: AdministrativeAction {
    package var name: String { "webhook replay" }

    private let place: NamedEnvironment
    private let webhook: String

    package init(_ webhook: String, of place: NamedEnvironment) {
        self.place = place
        self.webhook = webhook
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(place, in: data, item: webhook)
    }

    /// - Returns: how many notices.
    package func run(in data: any ServerData, by actor: Operator) throws -> Int {
        try place.webhooks(in: data).replay(webhook)
    }
}
