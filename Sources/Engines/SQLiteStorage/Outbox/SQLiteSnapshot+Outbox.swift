import CloudModel
import SQLite
import Storage
import StoredRows

// What a read sees of destinations and of what waits for them.
extension SQLiteSnapshot {
    private static let columns =
        """
        id, kind, key, user_record_name, device, address, session, made_at, used_at, badge, failures,
        due_at
        """

    static let noticeColumns = """
        id, destination, identifier, scope, zone, record_type, is_own, collapse_id, payload, made_at,
        trace
        """

    func destinations(_ keys: DestinationKeys) throws -> [StoredDestination] {
        let (condition, order, values): (String, String, [any StatementValue]) =
            switch keys {
            case .number(let number): ("id = ?1", "id", [number.value])
            case .key(let kind, let key): ("kind = ?1 AND key = ?2", "id", [kind.rawValue, key])
            case .user(let user): ("user_record_name = ?1", "id", [user.text])
            case .kind(let kind): ("kind = ?1", "id", [kind.rawValue])
            case .due(let kinds, let after, let moment, let limit):
                (
                    "due_at > ?1 AND due_at <= ?2 AND kind IN (\(Self.list(kinds)))",
                    "due_at LIMIT ?3", [after, moment, limit]
                )
            case .unused(let kind, let moment, let limit):
                ("kind = ?1 AND used_at < ?2", "used_at LIMIT ?3", [kind.rawValue, moment, limit])
            }
        let rows = try connection.prepare(
            "SELECT \(Self.columns) FROM destinations WHERE \(condition) ORDER BY \(order)")
        for (index, value) in zip(Int32(1)..., values) { value.bind(to: rows, at: index) }
        return try rows.all(row: Self.destination)
    }

    private static func list(_ kinds: Set<DestinationKind>) -> String {
        kinds.map(\.rawValue).sorted().map { "\($0)" }.joined(separator: ",")
    }

    private static let waiting = "SELECT \(noticeColumns), NULL, NULL FROM outbox"
    private static let dead = "SELECT \(noticeColumns), reason, died_at FROM dead_letters"

    func notices(
        _ keys: NoticeKeys, after number: NoticeNumber, limit: Int
    ) throws -> [StoredNotice] {
        let page = "id > ?2 ORDER BY id LIMIT ?3"
        switch keys {
        case .waiting(let destination):
            return try connection.prepare("\(Self.waiting) WHERE destination = ?1 AND \(page)")
                .all(destination.value, number.value, limit, row: Self.notice)
        case .dead(let destination):
            return try connection.prepare("\(Self.dead) WHERE destination = ?1 AND \(page)")
                .all(destination.value, number.value, limit, row: Self.notice)
        case .speakingOf(let person):
            let speaks =
                "id > ?2 AND (zone IN theirs OR instr(payload, CAST(?1 AS BLOB)) > 0)"
            return try connection.prepare(
                """
                WITH theirs AS (
                    SELECT z.id FROM zones z JOIN owners o ON o.id = z.owner
                    WHERE o.record_name = ?1)
                \(Self.waiting) WHERE \(speaks) UNION ALL \(Self.dead) WHERE \(speaks)
                ORDER BY id LIMIT ?3
                """
            ).all(person.text, number.value, limit, row: Self.notice)
        }
    }

    func noticeSummaries(
        _ state: NoticeState, for destinations: [DestinationNumber]?, countedMax: Int
    ) throws -> [NoticeSummary] {
        guard let destinations else { return [try noticeSummary(state, for: nil, countedMax)] }
        return try destinations.map { try noticeSummary(state, for: $0, countedMax) }
    }

    private func noticeSummary(
        _ state: NoticeState, for destination: DestinationNumber?, _ countedMax: Int
    ) throws -> NoticeSummary {
        let table = state == .waiting ? "outbox" : "dead_letters"
        let these = "FROM \(table)\(destination == nil ? "" : " WHERE destination = ?1")"
        func first<Value>(_ sql: String, _ body: (Statement) throws -> Value) throws -> Value? {
            let statement = try connection.prepare(sql)
            if let destination { statement.bind(destination.value, at: 1) }
            return try statement.first(row: body)
        }
        return NoticeSummary(
            count: try first("SELECT count(*) FROM (SELECT 1 \(these) LIMIT \(countedMax))") {
                Int($0.int64(0))
            } ?? 0,
            oldest: try first("SELECT made_at \(these) ORDER BY id LIMIT 1") { $0.int64(0) },
            lastEnd: state == .waiting
                ? nil
                : try first("SELECT reason, died_at \(these) ORDER BY id DESC LIMIT 1") {
                    NoticeEnd(reason: $0.string(0), at: $0.int64(1))
                })
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
            failures: Int(row.int64(10)), dueAt: row.isNull(11) ? nil : row.int64(11))
    }

    private static func notice(_ row: Statement) throws -> StoredNotice {
        guard let scope = DatabaseScope(stored: row.int64(3)) else {
            throw InvalidRow(table: row.isNull(12) ? "outbox" : "dead_letters")
        }
        return StoredNotice(
            number: NoticeNumber(row.int64(0)), destination: DestinationNumber(row.int64(1)),
            identifier: row.string(2), scope: scope,
            condition: NoticeCondition(
                zone: row.isNull(4) ? nil : ZoneNumber(row.int64(4)),
                type: row.isNull(5) ? nil : row.int64(5), isOwn: row.int64(6) != 0),
            collapseID: row.isNull(7) ? nil : row.string(7), payload: [UInt8](row.bytes(8)),
            madeAt: row.int64(9), trace: row.isNull(10) ? nil : row.string(10),
            end: row.isNull(12) ? nil : NoticeEnd(reason: row.string(11), at: row.int64(12)))
    }
}
