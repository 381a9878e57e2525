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
    }
#endif
