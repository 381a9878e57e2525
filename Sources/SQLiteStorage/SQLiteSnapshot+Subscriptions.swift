import CloudModel
import SQLite
import Storage

// What a read sees of subscriptions.
extension SQLiteSnapshot {
    private static let columns =
        "name, kind, record_type, zone, fires_on, fires_once, query, notification_info"

    func subscription(
        _ id: SubscriptionID, of owner: SubscriptionOwner
    ) throws -> Subscription? {
        let statement = try connection.prepare(
            """
            SELECT \(Self.columns) FROM subscriptions
            WHERE user_record_name = ?1 AND scope = ?2 AND name = ?3
            """)
        defer { statement.reset() }
        statement.bind(owner)
        statement.bind(id.text, at: 3)
        return try statement.step() ? try Self.subscription(statement) : nil
    }

    func subscriptions(of owner: SubscriptionOwner) throws -> [Subscription] {
        let statement = try connection.prepare(
            """
            SELECT \(Self.columns) FROM subscriptions
            WHERE user_record_name = ?1 AND scope = ?2 ORDER BY name
            """)
        defer { statement.reset() }
        statement.bind(owner)
        var found: [Subscription] = []
        while try statement.step() { found.append(try Self.subscription(statement)) }
        return found
    }

    private static func subscription(_ row: Statement) throws -> Subscription {
        guard let id = SubscriptionID(row.string(0)),
            let kind = Subscription.Kind(rawValue: row.int64(1))
        else { throw InvalidRow(table: "subscriptions") }
        return Subscription(
            id: id, kind: kind, recordType: RecordTypeName(row.string(2)),
            zone: ZoneName(row.string(3)),
            firesOn: Subscription.Firing(rawValue: row.int64(4)), firesOnce: row.int64(5) != 0,
            query: row.isNull(6) ? nil : [UInt8](row.bytes(6)),
            notificationInfo: row.isNull(7) ? nil : [UInt8](row.bytes(7)))
    }
}

extension DatabaseScope {
    /// How tables number the databases.
    var stored: Int64 {
        switch self {
        case .public: 0
        case .private: 1
        case .shared: 2
        }
    }
}

extension Statement {
    func bind(_ owner: SubscriptionOwner) {
        bind(owner.user.text, at: 1)
        bind(owner.scope.stored, at: 2)
    }
}
