import CatalogSQL
import CloudModel
import SQLite
import Storage
import StoredRows

// What a read sees of subscriptions.
extension SQLiteSnapshot {
    private static let query = "SELECT \(SubscriptionRows.columns) FROM subscriptions s"

    func subscriptions(_ keys: SubscriptionKeys) throws -> [WatchingSubscription] {
        switch keys {
        case .ids(let ids, let owner):
            let statement = try connection.prepare(
                "\(Self.query) WHERE user_record_name = ?1 AND scope = ?2 AND name = ?3")
            return try Self.inOrder(ids).flatMap {
                try statement.all(
                    owner.user.text, owner.scope.stored, $0.text,
                    row: WatchingSubscription.init(row:))
            }
        case .owner(let owner):
            return try connection.prepare(
                "\(Self.query) WHERE user_record_name = ?1 AND scope = ?2 ORDER BY name"
            ).all(owner.user.text, owner.scope.stored, row: WatchingSubscription.init(row:))
        case .publicOnes(let type, let match):
            return try connection.prepare(
                """
                \(Self.query)
                WHERE scope = 0 AND record_type = ?1 AND match_field = ?2 AND match_value = ?3
                """
            ).all(
                type.text, match?.field ?? "", match?.value ?? [],
                row: WatchingSubscription.init(row:))
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
        try CatalogConnection(SQLiteCatalogSession(connection: connection)).page(
            SubscriptionRows.list(of: user, in: nil, request), request,
            row: WatchingSubscription.init(row:))
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
}
