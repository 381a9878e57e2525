import CloudModel
import StoredRows
import Telemetry

/// Telemetry in a database that speaks SQL: all but the rows of series, which each engine adds up in its own way.
package protocol SQLTelemetry: TelemetryStorage {
    /// Runs statements, each in a transaction of its own.
    ///
    /// - Throws: `TelemetryClosed`; what the database reports.
    func using<Value: Sendable>(
        _ body: @Sendable (CatalogConnection) throws -> Value
    ) throws -> Value
}

extension SQLTelemetry {
    package func note(_ figures: ContainerFigures) throws {
        _ = try using { database in
            try database.run(
                """
                INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (container, environment, day) DO UPDATE SET
                    records = excluded.records, record_bytes = excluded.record_bytes,
                    assets = excluded.assets, asset_bytes = excluded.asset_bytes,
                    tombstones = excluded.tombstones, users = excluded.users
                """, .text(figures.container), .text(figures.environment), .integer(figures.day),
                .integer(figures.records), .integer(figures.recordBytes),
                .integer(figures.assets), .integer(figures.assetBytes),
                .integer(figures.tombstones), .integer(figures.users))
        }
    }

    package func figures(
        of container: String, in environment: String, days: ClosedRange<Int64>
    ) throws -> [ContainerFigures] {
        try using { database in
            try database.all(
                """
                SELECT day, records, record_bytes, assets, asset_bytes, tombstones, users
                FROM figures WHERE container = ? AND environment = ? AND day BETWEEN ? AND ?
                ORDER BY day
                """, .text(container), .text(environment), .integer(days.lowerBound),
                .integer(days.upperBound)
            ) { row in
                ContainerFigures(
                    container: container, environment: environment, day: row.int64(0),
                    records: row.int64(1), recordBytes: row.int64(2), assets: row.int64(3),
                    assetBytes: row.int64(4), tombstones: row.int64(5), users: row.int64(6))
            }
        }
    }

    package func noteStart(at now: Milliseconds) throws {
        _ = try using { database in
            try database.run(
                "INSERT INTO starts VALUES (?) ON CONFLICT DO NOTHING",
                .integer(TelemetryStep.minute.start(of: now)))
            try database.run(
                "DELETE FROM starts WHERE minute < ?",
                .integer(now - TelemetryStep.sixHours.keptMilliseconds))
        }
    }

    package func starts(
        in moments: Range<Milliseconds>, limit: Int
    ) throws -> [Milliseconds] {
        try using { database in
            try database.all(
                """
                SELECT minute FROM starts WHERE minute >= ? AND minute < ?
                ORDER BY minute DESC LIMIT ?
                """, .integer(moments.lowerBound), .integer(moments.upperBound),
                .integer(Int64(limit))
            ) { $0.int64(0) }.reversed()
        }
    }
}

/// The rows of telemetry's tables that are past their time.
package enum PastTelemetry {
    /// Removes them.
    ///
    /// - Returns: how many series have gone with their last rows.
    @discardableResult
    package static func remove(at now: Milliseconds, in database: CatalogConnection) throws -> Int {
        for step in TelemetryStep.allCases {
            try database.run(
                "DELETE FROM totals WHERE step = ? AND start < ?", .integer(step.rawValue),
                .integer(now - step.keptMilliseconds))
        }
        let longest = TelemetryStep.sixHours
        try database.run(
            "DELETE FROM figures WHERE day < ?",
            .integer(ContainerFigures.day(of: now - longest.keptMilliseconds)))
        return try database.run(
            """
            DELETE FROM series WHERE id IN (
                SELECT id FROM series EXCEPT SELECT series FROM totals WHERE step = ?)
            """, .integer(longest.rawValue))
    }
}
