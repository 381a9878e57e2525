import CloudModel
import SQLite
import Storage
import StoredRows

// What a write does with subscriptions.
extension SQLiteTransaction {
    func save(
        _ subscription: Subscription, of owner: SubscriptionOwner,
        requiring match: SubscriptionMatch?
    ) throws {
        try connection.prepare(
            """
            INSERT OR REPLACE INTO subscriptions (
                user_record_name, scope, name, kind, record_type, zone, fires_on, fires_once,
                query, notification_info, since, match_field, match_value)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """
        ).run(
            owner.user.text, owner.scope.stored, subscription.id.text, subscription.kind.rawValue,
            subscription.recordType?.text ?? "", subscription.zone?.text ?? "",
            subscription.firesOn.rawValue, subscription.firesOnce ? 1 : 0, subscription.query,
            subscription.notificationInfo, reachedPosition, match?.field ?? "", match?.value ?? [])
        try moveSubscriptions()
    }

    func deleteSubscription(_ id: SubscriptionID, of owner: SubscriptionOwner) throws {
        try connection.prepare(
            "DELETE FROM subscriptions WHERE user_record_name = ?1 AND scope = ?2 AND name = ?3"
        ).run(owner.user.text, owner.scope.stored, id.text)
        try moveSubscriptions()
    }
}
