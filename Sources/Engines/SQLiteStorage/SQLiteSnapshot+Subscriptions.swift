import CatalogSQL
import CloudModel
import SQLite
import Storage
import StoredRows

// What a read sees of subscriptions.
extension SQLiteSnapshot {
    private static let columns =
        "name, kind, record_type, zone, fires_on, fires_once, query, notification_info"

    func subscriptions(_ keys: SubscriptionKeys) throws -> [WatchingSubscription] {
        switch keys {
        case .ids(let ids, let owner):
            let statement = try connection.prepare(
                "\(Self.query) WHERE user_record_name = ?1 AND scope = ?2 AND name = ?3")
            return try Self.inOrder(ids).flatMap {
                try statement.all(
                    owner.user.text, owner.scope.stored, $0.text, row: Self.watching)
            }
        case .owner(let owner):
            return try connection.prepare(
                "\(Self.query) WHERE user_record_name = ?1 AND scope = ?2 ORDER BY name"
            ).all(owner.user.text, owner.scope.stored, row: Self.watching)
        case .publicOnes(let type, let match):
            return try connection.prepare(
                """
                \(Self.query)
                WHERE scope = 0 AND record_type = ?1 AND match_field = ?2 AND match_value = ?3
                """
            ).all(type.text, match?.field ?? "", match?.value ?? [], row: Self.watching)
        }
    }

    private static func inOrder(_ ids: [SubscriptionID]) -> [SubscriptionID] {
        Set(ids).sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }

    func subscriptionRevision() throws -> Int64 {
        let row = try connection.prepare(
            "SELECT subscription_revision FROM progress WHERE id = 0")
        defer { row.reset() }
        guard try row.step() else { throw InvalidRow(table: "progress") }
        return row.int64(0)
    }

    func allSubscriptions(
        of user: UserRecordName?, _ request: ListRequest
    ) throws -> ListPage<WatchingSubscription> {
        let owner: [(column: String, kind: ListQuery.KeyKind)] = [
            ("user_record_name", .text), ("scope", .integer),
        ]
        let isSearched = !request.prefix.isEmpty
        let query = ListQuery(
            name: isSearched ? "subscriptions-found" : "subscriptions",
            columns: "\(Self.columns), user_record_name, scope, since", width: 11,
            tables: "subscriptions", condition: user == nil ? "1 = 1" : "user_record_name = ?",
            values: user.map { [.text($0.text)] } ?? [],
            key: isSearched ? [("name", .text)] + owner : owner + [("name", .text)],
            bounds: isSearched ? ListQuery.Bounds(textPrefix: request.prefix) : nil)
        return try CatalogConnection(SQLiteCatalogSession(connection: connection)).page(
            query, request, row: Self.watching)
    }

    func fieldsRequired(of type: RecordTypeName) throws -> [String] {
        let next = try connection.prepare(
            """
            SELECT match_field FROM subscriptions
            WHERE scope = 0 AND record_type = ?1 AND match_field > ?2
            ORDER BY match_field LIMIT 1
            """)
        var found: [String] = []
        while let field = try next.first(type.text, found.last ?? "", row: { $0.string(0) }) {
            found.append(field)
        }
        return found
    }

    func watchers(ofShared zone: ZoneNumber) throws -> [UserRecordName] {
        try connection.prepare(
            """
            SELECT v.viewer FROM views v WHERE v.zone = ?1 AND v.ended IS NULL AND EXISTS (
                SELECT 1 FROM subscriptions s WHERE s.scope = 2 AND s.user_record_name = v.viewer)
            """
        ).all(zone.value) { row in
            guard let name = UserRecordName(row.string(0)) else {
                throw InvalidRow(table: "views")
            }
            return name
        }
    }

    private static let query =
        "SELECT \(columns), user_record_name, scope, since FROM subscriptions"

    private static func watching(_ row: any CatalogRow) throws -> WatchingSubscription {
        guard let user = UserRecordName(row.string(8)),
            let scope = DatabaseScope(stored: row.int64(9))
        else { throw InvalidRow(table: "subscriptions") }
        return WatchingSubscription(
            owner: SubscriptionOwner(user: user, scope: scope), subscription: try subscription(row),
            since: row.int64(10))
    }

    private static func subscription(_ row: any CatalogRow) throws -> Subscription {
        guard let id = SubscriptionID(row.string(0)),
            let kind = Subscription.Kind(rawValue: row.int64(1))
        else { throw InvalidRow(table: "subscriptions") }
        return Subscription(
            id: id, kind: kind, recordType: RecordTypeName(row.string(2)),
            zone: ZoneName(row.string(3)),
            firesOn: Subscription.Firing(rawValue: row.int64(4)), firesOnce: row.int64(5) != 0,
            query: row.isNull(6) ? nil : row.array(6),
            notificationInfo: row.isNull(7) ? nil : row.array(7))
    }
}
