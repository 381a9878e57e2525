#if PostgreSQL
    import PostgreSQL
    import Storage

    /// A pooler between the process and the server keeps no sessions: it gives each transaction another one.
    ///
    /// What a session has prepared and set is then another's, such as where it looks for tables.
    package struct PooledByTransaction: EngineFault, Equatable {
        package var finding: EngineFinding { .other }

        package var description: String {
            "storage.postgresURL leads to a pooler that gives each transaction another session; have it keep sessions "
                + "(in PgBouncer: pool_mode = session)"
        }

        /// What the server says of statements that another session has prepared, or this one in another of the server's.
        static let states = ["42P05", "26000"]

        package init() {}

        /// Refuses such a pooler where it shows itself: a session must keep the server's process that it had, also while
        /// another one has a transaction open.
        ///
        /// - Throws: also `PostgreSQLError`, of the states above.
        static func refuse(_ connect: () throws -> Connection) throws {
            let (session, other) = try (connect(), connect())
            let first = try session.run("SELECT pg_backend_pid()::bigint").number(0, 0)
            _ = try other.run([Query("BEGIN"), Query("SELECT 1")])
            // Of another text, so that it does not need what was prepared before.
            let second = try session.run("SELECT pg_backend_pid()::bigint AS again").number(0, 0)
            try other.rollBack()
            guard first == second else { throw PooledByTransaction() }
        }
    }
#endif
