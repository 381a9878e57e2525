#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import StoredRows

    /// A session beside those of the stores, with a schema of its own; used by one thread at a time.
    final class SchemaSession: Sendable {
        /// How long anybody waits for the session.
        private static let waitSecondsMax = 30

        private let schema: String
        /// One.
        private let sessions: ConnectionPool

        /// Makes the tables the first time, and brings them to the form of this version.
        ///
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        init(_ connection: ConnectionOptions, _ migrator: Migrator) throws {
            schema = migrator.schema
            var options = connection
            options.settings.append("SET search_path = \(schema)")
            sessions = ConnectionPool(
                ServerConnector(options), max: 1, waitSecondsMax: Self.waitSecondsMax)
            try migrator.migrate(sessions.connect())
        }

        /// Bytes of all tables with their indexes; 0 while the database is away.
        var byteCount: Int64 {
            // NB: a database that is away is asked again with the next figures.
            let rows = try? ask(
                Query(
                    """
                    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
                    WHERE relnamespace = to_regnamespace('\(schema)') AND relkind = 'r'
                    """))
            return rows?.number(0, 0) ?? 0
        }

        /// Asks one question in a transaction of its own.
        @discardableResult
        func ask(_ query: Query) throws -> Rows {
            try using { session in
                guard let rows = try session.run([query]).first else {
                    throw InvalidRow(table: "an answer")
                }
                return rows
            }
        }

        /// Runs a body that asks and says what is to be written, all in one transaction.
        ///
        /// - Parameter lock: what writers of all processes take turns by.
        /// - Returns: whether the database has said that it is done; it may be done where it has not said so.
        /// - Throws: what the body throws, `PostgreSQLError`; nothing is written then.
        @discardableResult
        func write(_ lock: Query, _ body: (Connection) throws -> [Query]) throws -> Bool {
            try using { session in
                _ = try session.run([Query("BEGIN"), lock])
                switch session.commit(after: try body(session)) {
                case .committed: return true
                case .indeterminate: return false
                case .undone(let error): throw error
                }
            }
        }

        /// Has the rows of a table overwritten that were deleted.
        func vacuum(_ table: String) throws {
            try using { try $0.run(script: "VACUUM \(table)") }
        }

        /// Runs a body with the session; where that has ended since it was last used, once more with another.
        ///
        /// A session in which something has failed is closed, and its transaction is undone with it.
        private func using<Value>(_ body: (Connection) throws -> Value) throws -> Value {
            func once() throws -> Value {
                try sessions.with { session, keep in
                    let value = try body(session)
                    keep(session)
                    return value
                }
            }
            do { return try once() } catch let error as PostgreSQLError where error.endsSession {
                return try once()
            }
        }
    }
#endif
