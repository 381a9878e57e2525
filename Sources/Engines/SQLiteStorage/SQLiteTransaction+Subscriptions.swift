import CloudModel
import SQLite
import Storage

// What a write does with subscriptions.
extension SQLiteTransaction {
    func save(
        _ subscription: Subscription, of owner: SubscriptionOwner,
        requiring match: SubscriptionMatch?
    ) throws {
        let statement = try connection.prepare(
            """
            INSERT OR REPLACE INTO subscriptions (
                user_record_name, scope, name, kind, record_type, zone, fires_on, fires_once,
                query, notification_info, since, match_field, match_value)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """)
        statement.bind(owner)
        statement.bind(subscription.id.text, at: 3)
        statement.bind(subscription.kind.rawValue, at: 4)
        statement.bind(subscription.recordType?.text ?? "", at: 5)
        statement.bind(subscription.zone?.text ?? "", at: 6)
        statement.bind(subscription.firesOn.rawValue, at: 7)
        statement.bind(Int64(subscription.firesOnce ? 1 : 0), at: 8)
        statement.bind(optional: subscription.query, at: 9)
        statement.bind(optional: subscription.notificationInfo, at: 10)
        statement.bind(reachedPosition, at: 11)
        statement.bind(match?.field ?? "", at: 12)
        statement.bind(match?.value ?? [], at: 13)
        try statement.run()
        try moveSubscriptions()
    }

    func deleteSubscription(_ id: SubscriptionID, of owner: SubscriptionOwner) throws {
        let statement = try connection.prepare(
            """
            DELETE FROM subscriptions
            WHERE user_record_name = ?1 AND scope = ?2 AND name = ?3
            """)
        statement.bind(owner)
        statement.bind(id.text, at: 3)
        try statement.run()
        try moveSubscriptions()
    }

    func deleteSubscriptions(of user: UserRecordName) throws {
        let statement = try connection.prepare(
            "DELETE FROM subscriptions WHERE user_record_name = ?1")
        statement.bind(user.text, at: 1)
        try statement.run()
        try moveSubscriptions()
    }
}

extension Statement {
    fileprivate func bind(optional bytes: [UInt8]?, at index: Int32) {
        if let bytes { bind(bytes, at: index) } else { bindNull(at: index) }
    }
}
