import CloudModel
import SQLite
import StoredRows
import Telemetry

extension SQLiteTelemetry {
    package func alerts() throws -> [AlertRule] {
        try using { connection in
            try connection.prepare(
                """
                SELECT name, metric, container, environment, database, operation, client, code,
                    is_above, threshold, is_relative, minutes, mail, url, made_at, told_at,
                    due_at, reached
                FROM alerts ORDER BY name
                """
            ).all(row: Self.alert(_:))
        }
    }

    private static func alert(_ row: Statement) throws -> AlertRule {
        guard let metric = AlertMetric(rawValue: row.string(1)) else {
            throw InvalidRow(table: "alerts")
        }
        var rule = AlertRule(
            name: row.string(0), metric: metric, threshold: row.double(9),
            minutes: Int(row.int64(11)))
        rule.filter.container = row.string(2)
        rule.filter.environment = row.string(3)
        rule.filter.database = row.string(4)
        rule.filter.operation = row.string(5)
        rule.filter.client = row.string(6)
        rule.filter.code = row.string(7)
        rule.isAbove = row.int64(8) != 0
        rule.isRelative = row.int64(10) != 0
        (rule.mail, rule.url) = (row.string(12), row.string(13))
        rule.madeAt = row.int64(14)
        (rule.telling.toldAt, rule.telling.dueAt) = (row.int64(15), row.int64(16))
        rule.telling.reached = AlertWays(rawValue: row.int64(17))
        return rule
    }

    package func add(_ alert: AlertRule) throws {
        try using { connection in
            let count = try connection.prepare("SELECT count(*) FROM alerts").first { $0.int64(0) }
            guard count ?? 0 < AlertRule.countMax else { throw AlertRefusal.tooMany }
            let filter = alert.filter
            try connection.prepare(
                """
                INSERT INTO alerts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
                    ?14, ?15, ?16, ?17, ?18)
                ON CONFLICT DO NOTHING
                """
            ).run(
                alert.name, alert.metric.rawValue, filter.container, filter.environment,
                filter.database, filter.operation, filter.client, filter.code,
                alert.isAbove ? 1 : 0, alert.threshold, alert.isRelative ? 1 : 0, alert.minutes,
                alert.mail, alert.url, alert.madeAt, alert.telling.toldAt, alert.telling.dueAt,
                alert.telling.reached.rawValue)
            guard connection.changeCount == 1 else { throw AlertRefusal.exists }
        }
    }

    package func removeAlert(_ name: String) throws {
        try using { connection in
            try connection.prepare("DELETE FROM alerts WHERE name = ?1").run(name)
            guard connection.changeCount == 1 else { throw AlertRefusal.unknown }
        }
    }

    package func note(_ telling: AlertTelling, of alert: AlertRule) throws -> Bool {
        let known = alert.telling
        return try using { connection in
            try connection.prepare(
                """
                UPDATE alerts SET told_at = ?2, due_at = ?3, reached = ?4
                WHERE name = ?1 AND told_at = ?5 AND due_at = ?6 AND reached = ?7
                """
            ).run(
                alert.name, telling.toldAt, telling.dueAt, telling.reached.rawValue, known.toldAt,
                known.dueAt, known.reached.rawValue)
            return connection.changeCount == 1
        }
    }
}
