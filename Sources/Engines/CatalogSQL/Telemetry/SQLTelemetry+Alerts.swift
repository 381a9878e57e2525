import CloudModel
import StoredRows
import Telemetry

extension SQLTelemetry {
    package func alerts() throws -> [AlertRule] {
        try using { database in
            try database.all(
                """
                SELECT name, metric, container, environment, database, operation, client, code,
                    is_above, threshold, is_relative, minutes, mail, url, made_at, told_at
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
                SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
                WHERE (SELECT count(*) FROM alerts) < ? ON CONFLICT DO NOTHING
                """, .text(alert.name), .text(alert.metric.rawValue), .text(filter.container),
                .text(filter.environment), .text(filter.database), .text(filter.operation),
                .text(filter.client), .text(filter.code), .flag(alert.isAbove),
                .real(alert.threshold), .flag(alert.isRelative), .integer(Int64(alert.minutes)),
                .text(alert.mail), .text(alert.url), .integer(alert.madeAt),
                .integer(alert.toldAt), .integer(Int64(AlertRule.countMax)))
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

    package func noteTold(_ alert: AlertRule, at now: Milliseconds) throws -> Bool {
        try using { database in
            try database.run(
                "UPDATE alerts SET told_at = ? WHERE name = ? AND told_at = ?", .integer(now),
                .text(alert.name), .integer(alert.toldAt)) == 1
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
        (madeAt, toldAt) = (row.int64(14), row.int64(15))
    }
}
