#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What a write does with subscriptions.
    extension PostgreSQLTransaction {
        func save(
            _ subscriptions: [NewSubscription], removing ids: [SubscriptionID],
            of owner: SubscriptionOwner
        ) throws {
            if !ids.isEmpty {
                job.statements.append(
                    Query(
                        """
                        DELETE FROM subscriptions
                        WHERE store = $1 AND user_record_name = $2 AND scope = $3
                            AND name = ANY ($4)
                        """, .number(store), .text(owner.user.text), .number(owner.scope.stored),
                        .texts(ids.map(\.text))))
            }
            for new in subscriptions { insert(new.subscription, of: owner, new.match) }
            group.moveSubscriptions()
        }

        private func insert(
            _ subscription: Subscription, of owner: SubscriptionOwner, _ match: SubscriptionMatch?
        ) {
            job.statements.append(
                Query(
                    """
                    INSERT INTO subscriptions (store, user_record_name, scope, name, kind,
                        record_type, zone, fires_on, fires_once, query, notification_info, since,
                        match_field, match_value)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
                    ON CONFLICT (store, user_record_name, scope, name) DO UPDATE SET
                        kind = excluded.kind, record_type = excluded.record_type,
                        zone = excluded.zone, fires_on = excluded.fires_on,
                        fires_once = excluded.fires_once, query = excluded.query,
                        notification_info = excluded.notification_info, since = excluded.since,
                        match_field = excluded.match_field, match_value = excluded.match_value
                    """, .number(store), .text(owner.user.text), .number(owner.scope.stored),
                    .text(subscription.id.text), .number(subscription.kind.rawValue),
                    .text(subscription.recordType?.text ?? ""),
                    .text(subscription.zone?.text ?? ""), .number(subscription.firesOn.rawValue),
                    .number(subscription.firesOnce ? 1 : 0), .bytes(subscription.query),
                    .bytes(subscription.notificationInfo), .number(group.reached),
                    .text(match?.field ?? ""), .bytes(match?.value ?? [])))
        }

        /// Removes what a person and their devices have left behind.
        ///
        /// - Returns: false: of one person that is so little that no step cuts it.
        func collectLeft(by person: UserRecordName) throws -> Bool {
            for table in ["client_tokens", "subscriptions", "access_requests"] {
                job.statements.append(
                    Query(
                        "DELETE FROM \(table) WHERE store = $1 AND user_record_name = $2",
                        .number(store), .text(person.text)))
            }
            group.moveSubscriptions()
            _ = try removeDestinations(.user(person))
            return false
        }
    }
#endif
