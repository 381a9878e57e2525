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

    func subscriptionRevision() throws -> Int64 {
        let row = try connection.prepare(
            "SELECT subscription_revision FROM progress WHERE id = 0")
        defer { row.reset() }
        guard try row.step() else { throw InvalidRow(table: "progress") }
        return row.int64(0)
    }

    func hasSubscriptions() throws -> Bool {
        let row = try connection.prepare("SELECT 1 FROM subscriptions LIMIT 1")
        defer { row.reset() }
        return try row.step()
    }

    func watching(of owner: SubscriptionOwner) throws -> [WatchingSubscription] {
        let rows = try connection.prepare(
            """
            SELECT \(Self.columns), user_record_name, scope, since FROM subscriptions
            WHERE user_record_name = ?1 AND scope = ?2 ORDER BY name
            """)
        defer { rows.reset() }
        rows.bind(owner)
        return try Self.watching(rows)
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
            tables: "subscriptions", condition: user == nil ? "1" : "user_record_name = ?",
            values: user.map { [.text($0.text)] } ?? [],
            key: isSearched ? [("name", .text)] + owner : owner + [("name", .text)],
            bounds: isSearched ? ListQuery.Bounds(textPrefix: request.prefix) : nil)
        return try CatalogConnection(connection: connection).page(
            query, request, row: Self.watchingSubscription)
    }

    func watchingPublic(
        _ type: RecordTypeName, requiring match: SubscriptionMatch?
    ) throws -> [WatchingSubscription] {
        let rows = try connection.prepare(
            """
            SELECT \(Self.columns), user_record_name, scope, since FROM subscriptions
            WHERE scope = 0 AND record_type = ?1 AND match_field = ?2 AND match_value = ?3
            """)
        defer { rows.reset() }
        rows.bind(type.text, at: 1)
        rows.bind(match?.field ?? "", at: 2)
        rows.bind(match?.value ?? [], at: 3)
        return try Self.watching(rows)
    }

    func fieldsRequired(of type: RecordTypeName) throws -> [String] {
        let next = try connection.prepare(
            """
            SELECT match_field FROM subscriptions
            WHERE scope = 0 AND record_type = ?1 AND match_field > ?2
            ORDER BY match_field LIMIT 1
            """)
        var found: [String] = []
        while true {
            defer { next.reset() }
            next.bind(type.text, at: 1)
            next.bind(found.last ?? "", at: 2)
            guard try next.step() else { return found }
            found.append(next.string(0))
        }
    }

    func watchers(ofShared zone: ZoneNumber) throws -> [UserRecordName] {
        let rows = try connection.prepare(
            """
            SELECT v.viewer FROM views v WHERE v.zone = ?1 AND v.ended IS NULL AND EXISTS (
                SELECT 1 FROM subscriptions s WHERE s.scope = 2 AND s.user_record_name = v.viewer)
            """)
        defer { rows.reset() }
        rows.bind(zone.value, at: 1)
        var found: [UserRecordName] = []
        while try rows.step() {
            guard let name = UserRecordName(rows.string(0)) else {
                throw InvalidRow(table: "views")
            }
            found.append(name)
        }
        return found
    }

    private static func watching(_ rows: Statement) throws -> [WatchingSubscription] {
        var found: [WatchingSubscription] = []
        while try rows.step() { found.append(try watchingSubscription(rows)) }
        return found
    }

    private static func watchingSubscription(_ row: Statement) throws -> WatchingSubscription {
        guard let user = UserRecordName(row.string(8)),
            let scope = DatabaseScope(stored: row.int64(9))
        else { throw InvalidRow(table: "subscriptions") }
        return WatchingSubscription(
            owner: SubscriptionOwner(user: user, scope: scope),
            subscription: try subscription(row), since: row.int64(10))
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
