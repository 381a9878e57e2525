#if PostgreSQL
    import PostgreSQL
    import StoredRows

    /// What the ledgers of erased people of all processes hold.
    package final class PostgreSQLErasures: Sendable {
        private let logs: LogsSession

        /// The database is first asked with the first exchange.
        package init(_ connection: ConnectionOptions) { logs = LogsSession(connection) }

        /// Adds the lines of a ledger to those of all.
        ///
        /// - Returns: those of all. When this returns, they are on the database's disk.
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        package func exchange(_ lines: [String]) throws -> [String] {
            let session = try logs.session()
            try session.ask(
                Query(
                    "INSERT INTO erasures SELECT unnest($1::bytea[]) ON CONFLICT DO NOTHING",
                    .texts(lines)))
            let all = try session.ask(Query("SELECT line FROM erasures ORDER BY line"))
            return (0..<all.count).map { all.text($0, 0) }
        }
    }
#endif
