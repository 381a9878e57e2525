#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Telemetry

    extension PostgreSQLTelemetry {
        package func rows(_ question: RowQuestion) throws -> [SeriesRows] {
            let series = try ask(SeriesTable.series(question))
            let numbers = (0..<series.count).map { series.number($0, 0) }
            let rows = try ask(
                Query(
                    """
                    SELECT n.number, t.start, t.body
                    FROM unnest($1::bigint[]) WITH ORDINALITY AS n (series, number)
                        CROSS JOIN LATERAL (
                            SELECT start, body FROM totals t WHERE t.series = n.series
                                AND t.step = $2 AND t.start >= $3 AND t.start < $4 OFFSET 0) t
                    ORDER BY n.number, t.start
                    """, .numbers(numbers), .number(question.step.rawValue),
                    .number(question.step.start(of: question.moments.lowerBound)),
                    .number(question.moments.upperBound)))
            var found: [SeriesRows] = []
            var last: Int64 = 0
            for row in 0..<rows.count {
                let number = rows.number(row, 0)
                if number != last {
                    found.append(SeriesRows(name: try SeriesTable.name(series, Int(number) - 1)))
                    last = number
                }
                found[found.count - 1].rows.append(
                    (rows.number(row, 1), try TotalsRows.totals(rows.bytes(row, 2))))
            }
            return found
        }

        package func figures(
            of container: String, in environment: String, days: ClosedRange<Int64>
        ) throws -> [ContainerFigures] {
            let rows = try ask(
                Query(
                    """
                    SELECT day, records, record_bytes, assets, asset_bytes, tombstones, users
                    FROM figures WHERE container = $1 AND environment = $2
                        AND day BETWEEN $3 AND $4
                    ORDER BY day
                    """, .text(container), .text(environment), .number(days.lowerBound),
                    .number(days.upperBound)))
            return (0..<rows.count).map { row in
                ContainerFigures(
                    container: container, environment: environment, day: rows.number(row, 0),
                    records: rows.number(row, 1), recordBytes: rows.number(row, 2),
                    assets: rows.number(row, 3), assetBytes: rows.number(row, 4),
                    tombstones: rows.number(row, 5), users: rows.number(row, 6))
            }
        }

        package func starts(
            in moments: Range<Milliseconds>, limit: Int
        ) throws -> [Milliseconds] {
            let rows = try ask(
                Query(
                    """
                    SELECT minute FROM starts WHERE minute >= $1 AND minute < $2
                    ORDER BY minute DESC LIMIT $3
                    """, .number(moments.lowerBound), .number(moments.upperBound),
                    .number(Int64(limit))))
            return (0..<rows.count).map { rows.number($0, 0) }.reversed()
        }
    }
#endif
