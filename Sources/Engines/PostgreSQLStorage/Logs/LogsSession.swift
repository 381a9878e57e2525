#if PostgreSQL
    import PostgreSQL
    import Synchronization

    /// A session with the schema of what happened, begun when it is first used.
    final class LogsSession: Sendable {
        private let connection: ConnectionOptions
        private let begun = Mutex<SchemaSession?>(nil)

        init(_ connection: ConnectionOptions) { self.connection = connection }

        /// Makes the tables the first time.
        ///
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        func session() throws -> SchemaSession {
            try begun.withLock { begun in
                if let begun { return begun }
                let session = try SchemaSession(connection, LogsSchema.migrator)
                begun = session
                return session
            }
        }
    }
#endif
