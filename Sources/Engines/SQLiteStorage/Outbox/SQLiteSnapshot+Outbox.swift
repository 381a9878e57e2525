import CloudModel
import SQLite
import Storage

// What a read sees of destinations and of what waits for them.
extension SQLiteSnapshot {
    private static let columns =
        "id, kind, key, user_record_name, device, address, session, made_at, used_at, badge, failures"

    static let noticeColumns = """
        id, destination, identifier, scope, zone, record_type, is_own, collapse_id, payload, made_at
        """

    func destinations(_ keys: DestinationKeys) throws -> [StoredDestination] {
        func rows(_ condition: String, by order: String = "id") throws -> Statement {
            try connection.prepare(
                "SELECT \(Self.columns) FROM destinations WHERE \(condition) ORDER BY \(order)")
        }
        let found: Statement
        switch keys {
        case .number(let number):
            found = try rows("id = ?1")
            found.bind(number.value, at: 1)
        case .key(let kind, let key):
            found = try rows("kind = ?1 AND key = ?2")
            found.bind(kind.rawValue, at: 1)
            found.bind(key, at: 2)
        case .user(let user):
            found = try rows("user_record_name = ?1")
            found.bind(user.text, at: 1)
        case .kind(let kind):
            found = try rows("kind = ?1")
            found.bind(kind.rawValue, at: 1)
        case .due(let kinds, let moment, let limit):
            let list = kinds.map(\.rawValue).sorted().map { "\($0)" }.joined(separator: ",")
            found = try rows(
                "due_at IS NOT NULL AND due_at <= ?1 AND kind IN (\(list))", by: "due_at LIMIT ?2")
            found.bind(moment, at: 1)
            found.bind(Int64(limit), at: 2)
        case .unused(let kind, let moment, let limit):
            found = try rows("kind = ?1 AND used_at < ?2", by: "used_at LIMIT ?3")
            found.bind(kind.rawValue, at: 1)
            found.bind(moment, at: 2)
            found.bind(Int64(limit), at: 3)
        }
        defer { found.reset() }
        return try Self.destinations(found)
    }

    func nextDestinationMoment(after moment: Milliseconds) throws -> Milliseconds? {
        let row = try connection.prepare(
            "SELECT due_at FROM destinations WHERE due_at > ?1 ORDER BY due_at LIMIT 1")
        defer { row.reset() }
        row.bind(moment, at: 1)
        return try row.step() ? row.int64(0) : nil
    }

    func notices(
        for destination: DestinationNumber, after number: NoticeNumber, limit: Int
    ) throws -> [StoredNotice] {
        let rows = try connection.prepare(
            """
            SELECT \(Self.noticeColumns) FROM outbox
            WHERE destination = ?1 AND id > ?2 ORDER BY id LIMIT ?3
            """)
        defer { rows.reset() }
        rows.bind(destination.value, at: 1)
        rows.bind(number.value, at: 2)
        rows.bind(Int64(limit), at: 3)
        var found: [StoredNotice] = []
        while try rows.step() { found.append(try Self.notice(rows, in: "outbox")) }
        return found
    }

    func outboxState() throws -> (count: Int, oldest: Milliseconds?) {
        let count = try connection.prepare("SELECT count(*) FROM outbox")
        defer { count.reset() }
        let oldest = try connection.prepare("SELECT made_at FROM outbox ORDER BY id LIMIT 1")
        defer { oldest.reset() }
        return (
            try count.step() ? Int(count.int64(0)) : 0,
            try oldest.step() ? oldest.int64(0) : nil
        )
    }

    func deadLetters(
        of destination: DestinationNumber, after number: NoticeNumber, limit: Int
    ) throws -> [DeadLetter] {
        let rows = try connection.prepare(
            """
            SELECT \(Self.noticeColumns), reason, died_at FROM dead_letters WHERE destination = ?1 AND id > ?2 ORDER BY id LIMIT ?3
            """)
        defer { rows.reset() }
        rows.bind(destination.value, at: 1)
        rows.bind(number.value, at: 2)
        rows.bind(Int64(limit), at: 3)
        var found: [DeadLetter] = []
        while try rows.step() {
            found.append(
                DeadLetter(
                    notice: try Self.notice(rows, in: "dead_letters"), reason: rows.string(10),
                    diedAt: rows.int64(11)))
        }
        return found
    }

    private static func destinations(_ rows: Statement) throws -> [StoredDestination] {
        var found: [StoredDestination] = []
        while try rows.step() { found.append(try destination(rows)) }
        return found
    }

    private static func destination(_ row: Statement) throws -> StoredDestination {
        guard let kind = DestinationKind(rawValue: row.int64(1)) else {
            throw InvalidRow(table: "destinations")
        }
        let device = row.string(4)
        return StoredDestination(
            number: DestinationNumber(row.int64(0)), kind: kind, key: [UInt8](row.bytes(2)),
            user: UserRecordName(row.string(3)), device: device.isEmpty ? nil : device,
            address: [UInt8](row.bytes(5)), session: row.isNull(6) ? nil : [UInt8](row.bytes(6)),
            madeAt: row.int64(7), usedAt: row.int64(8), badge: row.int64(9),
            failures: Int(row.int64(10)))
    }

    private static func notice(_ row: Statement, in table: String) throws -> StoredNotice {
        guard let scope = DatabaseScope(stored: row.int64(3)) else {
            throw InvalidRow(table: table)
        }
        return StoredNotice(
            number: NoticeNumber(row.int64(0)), destination: DestinationNumber(row.int64(1)),
            identifier: row.string(2), scope: scope,
            condition: NoticeCondition(
                zone: row.isNull(4) ? nil : ZoneNumber(row.int64(4)),
                type: row.isNull(5) ? nil : row.int64(5), isOwn: row.int64(6) != 0),
            collapseID: row.isNull(7) ? nil : row.string(7), payload: [UInt8](row.bytes(8)),
            madeAt: row.int64(9))
    }
}

extension DatabaseScope {
    /// As tables number it; nil for a number of none.
    init?(stored: Int64) {
        guard let scope = Self.allCases.first(where: { $0.stored == stored }) else { return nil }
        self = scope
    }
}
