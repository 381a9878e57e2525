import CloudModel
import StoredRows
import Telemetry

extension SQLTelemetry {
    package func alerts() throws -> [AlertRule] {
        try using { database in
            try database.all(
                """
                SELECT name, metric, container, environment, database, operation, client, code,
                    is_above, threshold, is_relative, minutes, mail, url, made_at, told_at,
                    due_at, reached
                FROM alerts ORDER BY name
                """, row: AlertRule.init(stored:))
        }
    }

    package func add(_ alert: AlertRule) throws {
        let filter = alert.filter
        try using { database in
            let added = try database.run(
                """
                INSERT INTO alerts
                SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
                WHERE (SELECT count(*) FROM alerts) < ? ON CONFLICT DO NOTHING
                """, .text(alert.name), .text(alert.metric.rawValue), .text(filter.container),
                .text(filter.environment), .text(filter.database), .text(filter.operation),
                .text(filter.client), .text(filter.code), .flag(alert.isAbove),
                .real(alert.threshold), .flag(alert.isRelative), .integer(Int64(alert.minutes)),
                .text(alert.mail), .text(alert.url), .integer(alert.madeAt),
                .integer(alert.telling.toldAt), .integer(alert.telling.dueAt),
                .integer(alert.telling.reached.rawValue), .integer(Int64(AlertRule.countMax)))
            guard added == 0 else { return }
            throw try database.exists("SELECT 1 FROM alerts WHERE name = ?", .text(alert.name))
                ? AlertRefusal.exists : AlertRefusal.tooMany
        }
    }

    package func removeAlert(_ name: String) throws {
        try using { database in
            let removed = try database.run("DELETE FROM alerts WHERE name = ?", .text(name))
            guard removed == 1 else { throw AlertRefusal.unknown }
        }
    }

    package func note(_ telling: AlertTelling, of alert: AlertRule) throws -> Bool {
        let known = alert.telling
        return try using { database in
            try database.run(
                """
                UPDATE alerts SET told_at = ?, due_at = ?, reached = ?
                WHERE name = ? AND made_at = ? AND told_at = ? AND due_at = ? AND reached = ?
                """, .integer(telling.toldAt), .integer(telling.dueAt),
                .integer(telling.reached.rawValue), .text(alert.name), .integer(alert.madeAt),
                .integer(known.toldAt), .integer(known.dueAt), .integer(known.reached.rawValue))
                == 1
        }
    }
}

extension AlertRule {
    fileprivate init(stored row: any CatalogRow) throws {
        guard let metric = AlertMetric(rawValue: row.string(1)) else {
            throw InvalidRow(table: "alerts")
        }
        self.init(
            name: row.string(0), metric: metric, threshold: row.real(9),
            minutes: Int(clamping: row.int64(11)))
        filter.container = row.string(2)
        filter.environment = row.string(3)
        filter.database = row.string(4)
        filter.operation = row.string(5)
        filter.client = row.string(6)
        filter.code = row.string(7)
        isAbove = row.int64(8) != 0
        isRelative = row.int64(10) != 0
        (mail, url) = (row.string(12), row.string(13))
        madeAt = row.int64(14)
        (telling.toldAt, telling.dueAt) = (row.int64(15), row.int64(16))
        telling.reached = AlertWays(rawValue: row.int64(17))
    }
}
