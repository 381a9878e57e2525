#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import StoredRows
    import Telemetry

    extension PostgreSQLTelemetry {
        package func alerts() throws -> [AlertRule] {
            let rows = try ask(
                Query(
                    """
                    SELECT name, metric, container, environment, database, operation, client, code,
                        is_above, threshold, is_relative, minutes, mail, url, made_at, told_at,
                        due_at, reached
                    FROM alerts ORDER BY name
                    """))
            return try (0..<rows.count).map { try Self.alert(rows, $0) }
        }

        private static func alert(_ rows: Rows, _ row: Int) throws -> AlertRule {
            guard let metric = AlertMetric(rawValue: rows.text(row, 1)) else {
                throw InvalidRow(table: "alerts")
            }
            var rule = AlertRule(
                name: rows.text(row, 0), metric: metric, threshold: rows.real(row, 9),
                minutes: Int(clamping: rows.number(row, 11)))
            rule.filter.container = rows.text(row, 2)
            rule.filter.environment = rows.text(row, 3)
            rule.filter.database = rows.text(row, 4)
            rule.filter.operation = rows.text(row, 5)
            rule.filter.client = rows.text(row, 6)
            rule.filter.code = rows.text(row, 7)
            rule.isAbove = rows.number(row, 8) != 0
            rule.isRelative = rows.number(row, 10) != 0
            (rule.mail, rule.url) = (rows.text(row, 12), rows.text(row, 13))
            rule.madeAt = rows.number(row, 14)
            (rule.telling.toldAt, rule.telling.dueAt) = (rows.number(row, 15), rows.number(row, 16))
            rule.telling.reached = AlertWays(rawValue: rows.number(row, 17))
            return rule
        }

        package func add(_ alert: AlertRule) throws {
            let filter = alert.filter
            let rows = try ask(
                Query(
                    """
                    WITH made AS (
                        INSERT INTO alerts
                        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
                            $17, $18
                        WHERE (SELECT count(*) FROM alerts) < $19
                        ON CONFLICT DO NOTHING RETURNING 1)
                    SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM alerts)
                    """, .text(alert.name), .text(alert.metric.rawValue), .text(filter.container),
                    .text(filter.environment), .text(filter.database), .text(filter.operation),
                    .text(filter.client), .text(filter.code), .number(alert.isAbove ? 1 : 0),
                    .real(alert.threshold), .number(alert.isRelative ? 1 : 0),
                    .number(Int64(alert.minutes)), .text(alert.mail), .text(alert.url),
                    .number(alert.madeAt), .number(alert.telling.toldAt),
                    .number(alert.telling.dueAt), .number(alert.telling.reached.rawValue),
                    .number(Int64(AlertRule.countMax))))
            guard rows.number(0, 0) == 0 else { return }
            throw rows.number(0, 1) < Int64(AlertRule.countMax)
                ? AlertRefusal.exists : AlertRefusal.tooMany
        }

        package func removeAlert(_ name: String) throws {
            let rows = try ask(Query("DELETE FROM alerts WHERE name = $1", .text(name)))
            guard rows.changeCount == 1 else { throw AlertRefusal.unknown }
        }

        package func note(_ telling: AlertTelling, of alert: AlertRule) throws -> Bool {
            let known = alert.telling
            let rows = try ask(
                Query(
                    """
                    UPDATE alerts SET told_at = $2, due_at = $3, reached = $4
                    WHERE name = $1 AND told_at = $5 AND due_at = $6 AND reached = $7
                    """, .text(alert.name), .number(telling.toldAt), .number(telling.dueAt),
                    .number(telling.reached.rawValue), .number(known.toldAt), .number(known.dueAt),
                    .number(known.reached.rawValue)))
            return rows.changeCount == 1
        }
    }
#endif
