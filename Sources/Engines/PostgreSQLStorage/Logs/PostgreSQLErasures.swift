#if PostgreSQL
    import PostgreSQL
    import StoredRows

    /// What the ledgers of erased people of all processes hold.
    package final class PostgreSQLErasures: Sendable {
        private let logs: LogsSession

        /// The database is first asked with the first exchange.
        package init(_ connection: ConnectionOptions) { logs = LogsSession(connection) }

        /// Adds the lines of a ledger that the database lacks to those of all.
        ///
        /// - Returns: those of all. When this returns, they are on the database's disk.
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        package func exchange(_ lines: [String]) throws -> [String] {
            let session = try logs.session()
            let rows = try session.ask(Query("SELECT line FROM erasures ORDER BY line"))
            let all = (0..<rows.count).map { rows.text($0, 0) }
            let lacking = Set(lines).subtracting(all).sorted()
            guard !lacking.isEmpty else { return all }
            try session.ask(
                Query(
                    "INSERT INTO erasures SELECT unnest($1::bytea[]) ON CONFLICT DO NOTHING",
                    .texts(lacking)))
            return all + lacking
        }
    }
#endif
