#if PostgreSQL
    import CatalogSQL
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
    package final class PostgreSQLTelemetry: SQLTelemetry {
        /// Brings its tables to the form of this version.
        static let migrator = Migrator(
            MigrationHistory(embedded: lenticular_postgres_telemetry_migrations()),
            schema: "telemetry",
            outdated: KnownMigrations.outdated)

        private struct State {
            var isClosed = false
            var cleaning = CleaningPace()
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
                // First: a series that is new has no rows before this transaction ends.
                if state.withLock({ $0.cleaning.isDue(at: minute.start) }) {
                    try PastTelemetry.remove(
                        at: minute.start,
                        in: CatalogConnection(PostgreSQLCatalogSession(connection: session)))
                }
                let names = Array(minute.series.keys)
                let numbers = try SeriesTable.numbers(of: names, session)
                var sums: [TotalsKey: TelemetryTotals] = [:]
                for (name, number) in zip(names, numbers) {
                    for step in TelemetryStep.allCases {
                        sums[TotalsKey(number, step, at: minute.start)] = minute.series[name]
                    }
                }
                try TotalsRows.add(&sums, session)
                return TotalsRows.queries(sums)
            }
        }

        // MARK: - The session

        package func using<Value: Sendable>(
            _ body: @Sendable (CatalogConnection) throws -> Value
        ) throws -> Value {
            try body(CatalogConnection(PostgreSQLCatalogSession { [try self.ask($0)] }))
        }

        /// Asks one question in a transaction of its own.
        func ask(_ query: Query) throws -> Rows {
            try checkOpen()
            return try session.ask(query)
        }

        private func checkOpen() throws {
            guard !state.withLock({ $0.isClosed }) else { throw TelemetryClosed() }
        }
    }
#endif
