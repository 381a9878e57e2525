#if PostgreSQL
    import CloudModel
    import MigrationHistory
    import PostgreSQL
    import PostgreSQLMigrations
    import StoredRows
    import Synchronization
    import Telemetry

    /// Keeps the telemetry of all processes in the database, in a schema and on a session of its own.
    ///
    /// What two processes count in the same minute adds up in one row. A minute is one transaction, and its callers keep
    /// it while the database is away; one whose commit nobody answered is taken to be in the database, so that none
    /// counts twice.
    package final class PostgreSQLTelemetry: TelemetryStorage {
        /// Brings its tables to the form of this version.
        static let migrator = Migrator(
            MigrationHistory(embedded: lenticular_postgres_telemetry_migrations()),
            schema: "telemetry",
            outdated: KnownMigrations.outdated)
        /// How often rows that are past their time are removed.
        private static let cleaningMilliseconds: Milliseconds = 3_600_000

        private struct State {
            var isClosed = false
            var cleanedAt: Milliseconds?
        }

        package let userHash: UserHash
        private let session: SchemaSession
        private let state = Mutex(State())

        /// Makes the tables the first time.
        ///
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        package init(_ connection: ConnectionOptions) throws {
            session = try SchemaSession(connection, Self.migrator)
            let key = try session.ask(Query("SELECT key FROM telemetry_key WHERE id = 0"))
            guard key.count == 1 else { throw InvalidRow(table: "telemetry_key") }
            userHash = UserHash(key: UInt64(bitPattern: key.number(0, 0)))
        }

        package var byteCount: Int64 { session.byteCount }

        package func close() { state.withLock { $0.isClosed = true } }

        // MARK: - Writing

        package func add(_ minute: TelemetryMinute) throws {
            try checkOpen()
            try session.write(Query("SELECT key FROM telemetry_key WHERE id = 0 FOR UPDATE")) {
                session in
                let names = Array(minute.series.keys)
                let numbers = try SeriesTable.numbers(of: names, session)
                var sums: [TotalsKey: TelemetryTotals] = [:]
                for (name, number) in zip(names, numbers) {
                    for step in TelemetryStep.allCases {
                        sums[TotalsKey(number, step, at: minute.start)] = minute.series[name]
                    }
                }
                try TotalsRows.add(&sums, session)
                return TotalsRows.queries(sums) + cleaning(at: minute.start)
            }
        }

        /// What removes what is past its time, once an hour.
        private func cleaning(at now: Milliseconds) -> [Query] {
            let isDue = state.withLock { state in
                if let last = state.cleanedAt, now >= last, now - last < Self.cleaningMilliseconds {
                    return false
                }
                state.cleanedAt = now
                return true
            }
            guard isDue else { return [] }
            let past = TelemetryStep.allCases.map { step in
                Query(
                    "DELETE FROM totals WHERE step = $1 AND start < $2", .number(step.rawValue),
                    .number(now - step.keptMilliseconds))
            }
            return past + [
                Query(
                    "DELETE FROM figures WHERE day < $1",
                    .number(
                        ContainerFigures.day(of: now - TelemetryStep.sixHours.keptMilliseconds))),
                // A series has rows of six hours the longest.
                Query(
                    """
                    DELETE FROM series s WHERE NOT EXISTS (
                        SELECT 1 FROM totals t WHERE t.series = s.id AND t.step = $1)
                    """, .number(TelemetryStep.sixHours.rawValue)),
            ]
        }

        package func note(_ figures: ContainerFigures) throws {
            try ask(
                Query(
                    """
                    INSERT INTO figures VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                    ON CONFLICT (container, environment, day) DO UPDATE SET
                        records = excluded.records, record_bytes = excluded.record_bytes,
                        assets = excluded.assets, asset_bytes = excluded.asset_bytes,
                        tombstones = excluded.tombstones, users = excluded.users
                    """, .text(figures.container), .text(figures.environment),
                    .number(figures.day), .number(figures.records), .number(figures.recordBytes),
                    .number(figures.assets), .number(figures.assetBytes),
                    .number(figures.tombstones), .number(figures.users)))
        }

        package func noteStart(at now: Milliseconds) throws {
            try ask(
                Query(
                    "INSERT INTO starts VALUES ($1) ON CONFLICT DO NOTHING",
                    .number(TelemetryStep.minute.start(of: now))))
            try ask(
                Query(
                    "DELETE FROM starts WHERE minute < $1",
                    .number(now - TelemetryStep.sixHours.keptMilliseconds)))
        }

        // MARK: - The session

        /// Asks one question in a transaction of its own.
        @discardableResult
        func ask(_ query: Query) throws -> Rows {
            try checkOpen()
            return try session.ask(query)
        }

        private func checkOpen() throws {
            guard !state.withLock({ $0.isClosed }) else { throw TelemetryClosed() }
        }
    }
#endif
