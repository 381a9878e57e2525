import CloudModel
import SQLite
import StoredRows
import Telemetry

extension SQLiteTelemetry {
    package func rows(_ question: RowQuestion) throws -> [SeriesRows] {
        try reading { connection in
            var found: [SeriesRows] = []
            for (number, name) in try Self.series(question, connection) {
                let rows = try Self.rows(of: number, question, connection)
                if !rows.isEmpty { found.append(SeriesRows(name: name, rows: rows)) }
            }
            return found
        }
    }

    private static func series(
        _ question: RowQuestion, _ connection: Connection
    ) throws -> [(Int64, SeriesName)] {
        try connection.prepare(
            """
            SELECT id, kind, container, environment, database, operation, client, version
            FROM series
            WHERE (?1 IS NULL OR container = ?1) AND (?2 IS NULL OR environment = ?2)
            ORDER BY container, environment, kind, operation, database, client, version
            """
        ).all(question.container, question.environment) { row in
            guard let kind = SeriesName.Kind(rawValue: row.int64(1)) else {
                throw InvalidRow(table: "series")
            }
            return (
                row.int64(0),
                SeriesName(
                    kind, container: row.string(2), environment: row.string(3),
                    database: row.string(4), operation: row.string(5), client: row.string(6),
                    version: row.string(7))
            )
        }.filter { question.kinds.contains($0.1.kind) }
    }

    /// Asks for each row by its key: of a long time, many are of other series.
    private static func rows(
        of series: Int64, _ question: RowQuestion, _ connection: Connection
    ) throws -> [(start: Milliseconds, totals: TelemetryTotals)] {
        let row = try connection.prepare(
            "SELECT body FROM totals WHERE step = ?1 AND start = ?2 AND series = ?3")
        var rows: [(start: Milliseconds, totals: TelemetryTotals)] = []
        let step = question.step
        for start in stride(
            from: step.start(of: question.moments.lowerBound), to: question.moments.upperBound,
            by: Int(step.milliseconds))
        {
            let totals = try row.first(step.rawValue, start, series) { row in
                guard let totals = TelemetryTotals(encoded: row.bytes(0)) else {
                    throw InvalidRow(table: "totals")
                }
                return totals
            }
            if let totals { rows.append((start, totals)) }
        }
        return rows
    }
}
