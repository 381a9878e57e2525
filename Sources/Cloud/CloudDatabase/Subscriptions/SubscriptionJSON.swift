import CloudModel
import JSON

/// Subscriptions as answers show them (web-services.md §5.14, rulings.md 42).
enum SubscriptionJSON {
    static func append(
        _ subscription: Subscription, owner: UserRecordName, to writer: inout JSONWriter
    ) {
        writer.raw("{\"subscriptionID\":")
        writer.string(subscription.id.text)
        writer.raw(",\"subscriptionType\":")
        switch subscription.kind {
        case .query: writer.raw("\"query\"")
        case .zone: writer.raw("\"zone\"")
        case .database: writer.raw("\"database\"")
        }
        if let query = subscription.query {
            writer.raw(",\"query\":")
            writer.raw(query)
        } else if let type = subscription.recordType {
            writer.member("recordType", type.text)
        }
        if let zone = subscription.zone {
            writer.raw(",\"zoneID\":")
            writer.raw(ZoneJSON.identifier(zone, owner: owner))
        } else if subscription.kind == .query {
            writer.raw(",\"zoneWide\":true")
        }
        if subscription.kind == .query { append(subscription.firesOn, to: &writer) }
        if subscription.firesOnce { writer.raw(",\"firesOnce\":true") }
        if let info = subscription.notificationInfo {
            writer.raw(",\"notificationInfo\":")
            writer.raw(info)
        }
        writer.raw("}")
    }

    private static func append(_ firing: Subscription.Firing, to writer: inout JSONWriter) {
        writer.raw(",\"firesOn\":[")
        var isFirst = true
        for (one, word) in words where firing.contains(one) {
            writer.separate(&isFirst)
            writer.raw(word)
        }
        writer.raw("]")
    }

    private static let words: [(Subscription.Firing, StaticString)] = [
        (.create, "\"create\""), (.update, "\"update\""), (.delete, "\"delete\""),
    ]

    /// A deletion (rulings.md 42).
    static func append(deleted id: SubscriptionID, to writer: inout JSONWriter) {
        writer.raw("{\"subscriptionID\":")
        writer.string(id.text)
        writer.raw(",\"deleted\":true}")
    }
}
