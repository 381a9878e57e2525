import CloudModel
import SQLite
import Storage
import StoredRows

// What a write does with subscriptions.
extension SQLiteTransaction {
    func save(
        _ subscriptions: [NewSubscription], removing ids: [SubscriptionID],
        of owner: SubscriptionOwner
    ) throws {
        if !ids.isEmpty {
            let delete = try connection.prepare(
                "DELETE FROM subscriptions WHERE user_record_name = ?1 AND scope = ?2 AND name = ?3"
            )
            for id in ids { try delete.run(owner.user.text, owner.scope.stored, id.text) }
        }
        for new in subscriptions { try insert(new.subscription, of: owner, new.match) }
        try moveSubscriptions()
    }

    private func insert(
        _ subscription: Subscription, of owner: SubscriptionOwner, _ match: SubscriptionMatch?
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
    }
}
