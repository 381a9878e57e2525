import CatalogSQL
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
        return try rows.all(row: StoredDestination.init(row:))
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
                .all(destination.value, number.value, limit, row: StoredNotice.init(row:))
        case .dead(let destination):
            return try connection.prepare("\(Self.dead) WHERE destination = ?1 AND \(page)")
                .all(destination.value, number.value, limit, row: StoredNotice.init(row:))
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
            ).all(person.text, number.value, limit, row: StoredNotice.init(row:))
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
}
