import CloudKitWire
import Foundation

/// Subscriptions as the protocol has them.
enum SubscriptionText {
    /// Reads what this device has written: all zones are the caller's own, or named.
    static let ownReader = AnswerReader(user: nil, scope: .private, links: nil)

    static func type(_ word: String?) -> CKSubscription.SubscriptionType? {
        switch word {
        case "query": .query
        case "zone": .recordZone
        case "database": .database
        default: nil
        }
    }

    private static func word(_ type: CKSubscription.SubscriptionType) -> String {
        switch type {
        case .query: "query"
        case .recordZone: "zone"
        case .database: "database"
        }
    }

    /// - Throws: `CKError` `invalidArguments` for a predicate that no server can answer.
    static func write(_ subscription: CKSubscription, to json: inout JSONText) throws {
        try json.object { json in
            json.member("subscriptionID", subscription.subscriptionID)
            json.member("subscriptionType", word(subscription.subscriptionType))
            try subscription.write(&json)
            if let info = subscription.notificationInfo {
                json.key("notificationInfo")
                info.write(&json)
            }
        }
    }

    static func bytes(of subscription: CKSubscription) throws -> [UInt8] {
        var json = JSONText()
        try write(subscription, to: &json)
        return json.bytes
    }

    /// - Returns: nil for a kind that this library does not know.
    static func subscription(_ view: JSONView, _ reader: AnswerReader) -> CKSubscription? {
        guard let id = view["subscriptionID"]?.string else { return nil }
        let made: CKSubscription
        switch type(view["subscriptionType"]?.string) {
        case .query:
            made = CKQuerySubscription(
                recordType: "", predicate: NSPredicate(value: true), subscriptionID: id)
        case .recordZone: made = CKRecordZoneSubscription(zoneID: .default, subscriptionID: id)
        case .database: made = CKDatabaseSubscription(subscriptionID: id)
        case nil: return nil
        }
        made.read(view, reader)
        made.notificationInfo = view["notificationInfo"].map(CKNotificationInfo.init)
        return made
    }
}

extension AnswerReader {
    /// A filter of a query, as subscriptions keep them.
    func filter(_ view: JSONView) -> CKQuery.Filter? {
        guard let comparator = view["comparator"]?.string.flatMap(QueryComparator.init),
            let field = view["fieldValue"], let value = value(field, in: .default)
        else { return nil }
        return CKQuery.Filter(
            key: view["fieldName"]?.string ?? view["systemFieldName"]?.string ?? "",
            comparator: comparator, value: value, metres: view["distance"]?.double)
    }

    /// A sort of a query, as archives keep them.
    func sortDescriptor(_ view: JSONView) -> NSSortDescriptor? {
        guard let key = view["fieldName"]?.string else { return nil }
        if let place = view["relativeLocation"].flatMap({ value($0, in: .default) }),
            case .location(let location) = place
        {
            return CKLocationSortDescriptor(key: key, relativeLocation: location)
        }
        return NSSortDescriptor(key: key, ascending: view["ascending"]?.bool ?? true)
    }
}
