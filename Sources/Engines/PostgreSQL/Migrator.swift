#if PostgreSQL
    import MigrationHistory

    /// Brings a database to the schema that the server was built with.
    ///
    /// Processes that start at the same time take turns by an advisory lock, which ends with the transaction. Processes of
    /// two versions may use a database at once: each migration says which ones can go on with what it makes
    /// (`Migration.worksWith`), and the database knows it of those that a process does not.
    package struct Migrator: Sendable {
        /// The living processes that know fewer migrations of a schema than so many, each in a few words.
        package typealias Outdated =
            @Sendable (_ connection: Connection, _ schema: String, _ knownMin: Int) throws ->
            [String]

        /// "LenT", read as a number: the lock of the one that migrates.
        static let lock: Int64 = 0x4c65_6e54

        package let history: MigrationHistory
        /// What the tables have to themselves; sessions look into it first.
        package let schema: String
        private let outdated: Outdated
        private let serverNumber: @Sendable (Connection) -> Int

        /// - Parameter serverNumber: of the server that a session is with, as `server_version_num` has it.
        package init(
            _ history: MigrationHistory, schema: String = "public",
            outdated: @escaping Outdated = { _, _, _ in [] },
            serverNumber: @escaping @Sendable (Connection) -> Int = { $0.serverNumber }
        ) {
            self.history = history
            self.schema = schema
            self.serverNumber = serverNumber
            self.outdated = outdated
        }

        /// How many migrations the database lacks; 0 also for one that has more, with which this version can work.
        ///
        /// - Throws: `MigrationError` when this version may not touch it, `PostgreSQLError`.
        package func pendingCount(_ connection: Connection) throws -> Int {
            let tables = try connection.run(
                """
                SELECT coalesce(bool_or(relname = 'migrations'), false), count(*) FROM pg_class
                WHERE relnamespace = to_regnamespace('\(schema)') AND relkind IN ('r', 'p')
                """)
            guard tables.number(0, 0) == 1 else {
                guard tables.number(0, 1) == 0 else { throw MigrationError.foreign }
                return history.migrations.count
            }
            let rows = try connection.run(
                "SELECT name, checksum, known_min FROM \(schema).migrations ORDER BY number")
            let known = history.migrations.count
            for row in 0..<rows.count where row >= known && rows.number(row, 2) > known {
                throw MigrationError.newer(name: rows.text(row, 0))
            }
            return try history.pendingCount(
                after: (0..<min(rows.count, known)).map {
                    RecordedMigration(name: rows.text($0, 0), checksum: rows.number($0, 1))
                })
        }

        /// Refuses what processes that live could not go on with.
        ///
        /// - Parameter first: the number of migrations that the database has.
        private func requireNobodyOutdated(after first: Int, _ connection: Connection) throws {
            guard first > 0 else { return }
            for index in first..<history.migrations.count {
                let processes = try outdated(connection, schema, history.knownMin(with: index))
                guard processes.isEmpty else {
                    throw MigrationError.inUse(
                        name: history.migrations[index].name, processes: processes)
                }
            }
        }

        /// Runs what the database lacks, in order, all in one transaction.
        ///
        /// A process that joins others looks at `pendingCount` again once they see it.
        ///
        /// - Parameter body: what belongs to it; nothing is done of both when it throws. It is not run for a database that
        ///   lacks nothing.
        /// - Throws: `OutdatedServer`; as `pendingCount`, and what `body` throws. The database then stays as it was.
        package func migrate(_ connection: Connection, with body: () throws -> Void = {}) throws {
            try OutdatedServer.refuse(serverNumber(connection))
            guard try pendingCount(connection) > 0 else { return }
            do {
                _ = try connection.run([
                    Query("BEGIN"),
                    Query("SELECT pg_advisory_xact_lock($1)", .number(Self.lock)),
                ])
                // Looked at again: another process may have been first.
                let pending = try pendingCount(connection)
                let first = history.migrations.count - pending
                if first == 0 {
                    _ = try connection.run([Query("CREATE SCHEMA IF NOT EXISTS \(schema)")])
                    _ = try connection.run(
                        """
                        CREATE TABLE migrations (
                            number bigint PRIMARY KEY, name bytea NOT NULL, checksum bigint NOT NULL,
                            -- How many migrations a process must know to work with the database.
                            known_min bigint NOT NULL)
                        """)
                }
                try requireNobodyOutdated(after: first, connection)
                for number in first..<history.migrations.count {
                    let migration = history.migrations[number]
                    try connection.run(script: migration.sql)
                    _ = try connection.run(
                        "INSERT INTO migrations VALUES ($1, $2, $3, $4)",
                        .number(Int64(number + 1)), .text(migration.name),
                        .number(migration.checksum), .number(Int64(history.knownMin(with: number))))
                }
                if pending > 0 { try body() }
                switch connection.commit(after: []) {
                case .committed: return
                case .undone(let error), .indeterminate(let error): throw error
                }
            } catch {
                // NB: the first error is the one to tell; a transaction left open ends with its session.
                try? connection.rollBack()
                throw error
            }
        }
    }
#endif
