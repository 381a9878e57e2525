#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import StoredRows
    import Telemetry

    /// Which row of totals.
    struct TotalsKey: Hashable {
        let series: Int64
        let step: TelemetryStep
        let start: Milliseconds

        init(_ series: Int64, _ step: TelemetryStep, at moment: Milliseconds) {
            self.series = series
            self.step = step
            start = step.start(of: moment)
        }
    }

    /// The rows of totals: many at once.
    enum TotalsRows {
        /// Adds to sums what is stored under their keys.
        static func add(
            _ sums: inout [TotalsKey: TelemetryTotals], _ session: Connection
        ) throws {
            let keys = Array(sums.keys)
            let rows = try session.run([
                Query(
                    """
                    SELECT n.number, t.body
                    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
                            WITH ORDINALITY AS n (series, step, start, number)
                        CROSS JOIN LATERAL (
                            SELECT body FROM totals t WHERE t.series = n.series
                                AND t.step = n.step AND t.start = n.start OFFSET 0) t
                    """, .numbers(keys.map(\.series)), .numbers(keys.map(\.step.rawValue)),
                    .numbers(keys.map(\.start)))
            ])[0]
            for row in 0..<rows.count {
                let stored = try totals(rows.bytes(row, 1))
                sums[keys[Int(rows.number(row, 0)) - 1]]?.add(stored)
            }
        }

        static func totals(_ bytes: UnsafeRawBufferPointer) throws -> TelemetryTotals {
            guard let totals = TelemetryTotals(encoded: bytes) else {
                throw InvalidRow(table: "totals")
            }
            return totals
        }

        /// What puts sums into their rows.
        static func queries(_ sums: [TotalsKey: TelemetryTotals]) -> [Query] {
            guard !sums.isEmpty else { return [] }
            let rows = Array(sums)
            return [
                Query(
                    """
                    INSERT INTO totals (series, step, start, body)
                    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[])
                    ON CONFLICT (series, step, start) DO UPDATE SET body = excluded.body
                    """, .numbers(rows.map(\.key.series)), .numbers(rows.map(\.key.step.rawValue)),
                    .numbers(rows.map(\.key.start)), .byteStrings(rows.map(\.value.encoded)))
            ]
        }
    }
#endif
