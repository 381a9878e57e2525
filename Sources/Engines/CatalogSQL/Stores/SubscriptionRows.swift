import CloudModel
import Storage
import StoredRows

/// Subscriptions as a list that is read page by page, or as rows that are asked for.
package enum SubscriptionRows {
    /// In the order that `WatchingSubscription.init(row:)` reads them.
    package static let columns = """
        s.name, s.kind, s.record_type, s.zone, s.fires_on, s.fires_once, s.query,
        s.notification_info, s.user_record_name, s.scope, s.since
        """

    /// All subscriptions, or those of a user; searched by their names, and then in the order of these.
    ///
    /// - Parameter store: nil where the table has one store's alone.
    package static func list(
        of user: UserRecordName?, in store: Int64?, _ request: ListRequest
    ) -> ListQuery {
        let owner: [(column: String, kind: ListQuery.KeyKind)] = [
            ("s.user_record_name", .text), ("s.scope", .integer),
        ]
        let isSearched = !request.prefix.isEmpty
        let conditions =
            (store == nil ? [] : ["s.store = ?"]) + (user == nil ? [] : ["s.user_record_name = ?"])
        let values: [CatalogValue] =
            (store.map { [.integer($0)] } ?? []) + (user.map { [.text($0.text)] } ?? [])
        return ListQuery(
            name: isSearched ? "subscriptions-found" : "subscriptions", columns: columns,
            width: 11, tables: "subscriptions s",
            condition: conditions.isEmpty ? "1 = 1" : conditions.joined(separator: " AND "),
            values: values,
            key: isSearched ? [("s.name", .text)] + owner : owner + [("s.name", .text)],
            bounds: isSearched ? ListQuery.Bounds(textPrefix: request.prefix) : nil)
    }
}

extension WatchingSubscription {
    package init(row: any CatalogRow) throws {
        guard let user = UserRecordName(row.string(8)), let id = SubscriptionID(row.string(0)),
            let scope = DatabaseScope(stored: row.int64(9)),
            let kind = Subscription.Kind(rawValue: row.int64(1))
        else { throw InvalidRow(table: "subscriptions") }
        self.init(
            owner: SubscriptionOwner(user: user, scope: scope),
            subscription: Subscription(
                id: id, kind: kind, recordType: RecordTypeName(row.string(2)),
                zone: ZoneName(row.string(3)),
                firesOn: Subscription.Firing(rawValue: row.int64(4)), firesOnce: row.int64(5) != 0,
                query: row.optionalArray(6), notificationInfo: row.optionalArray(7)),
            since: row.int64(10))
    }
}
