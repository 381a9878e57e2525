#if PostgreSQL
    import CatalogSQL
    import MigrationHistory
    import PostgreSQL
    import PostgreSQLMigrations
    import Storage
    import StoredRows
    import Synchronization

    /// The catalog in a database: its tables have the schema `catalog` to themselves.
    ///
    /// Writes of all processes take turns by the row of the catalog's version, as those of one process do in SQLite: so
    /// what a write has looked at is still so when it commits.
    package final class PostgreSQLCatalog: SQLCatalog {
        /// Brings the catalog's tables to the form of this version.
        static let migrator = Migrator(
            MigrationHistory(embedded: lenticular_postgres_catalog_migrations()), schema: "catalog",
            outdated: KnownMigrations.outdated)

        let readers: ConnectionPool
        let writers: ConnectionPool
        /// Moves whenever what was kept of the catalog may have ended.
        private let generation: Atomic<Int>
        /// What this process's commits are known by.
        let marks: CommitMarks
        /// The turn of a write: its transaction begins with these.
        let turn: [Query]
        /// Of the process among others; nil for one that is alone.
        let presence = Mutex<ProcessPresence?>(nil)
        /// Called when another process has changed the catalog, once what was kept of it has been dropped; does not block.
        let onMove = Mutex<@Sendable () -> Void>({})

        /// Opens the catalog, making it or bringing it to this version.
        ///
        /// - Parameters:
        ///   - readersMax: how many reads go on at the same time.
        ///   - waitSecondsMax: how long each waits for its turn.
        ///   - silenceSecondsMax: after so long without a statement the server undoes a write whose turn it is.
        /// - Throws: `MigrationError` for a database that is not this version's, `PostgreSQLError`.
        package init(
            _ options: ConnectionOptions, readersMax: Int = 4, waitSecondsMax: Int = 30,
            silenceSecondsMax: Int = 15
        ) throws {
            let server = ServerConnector(Self.options(options))
            let connection = try server.connect()
            try Self.migrator.migrate(connection)
            let version = try connection.run("SELECT version FROM catalog_version WHERE id = 0")
            guard version.count == 1 else { throw InvalidRow(table: "catalog_version") }
            generation = Atomic(Int(version.number(0, 0)))
            marks = CommitMarks()
            // A process that is stopped within its turn, or cut off from the server, must not hold it for ever.
            turn =
                [
                    Query("BEGIN"),
                    Query(
                        "SET LOCAL idle_in_transaction_session_timeout = '\(silenceSecondsMax)s'"),
                    Query("SELECT version FROM catalog_version WHERE id = 0 FOR UPDATE"),
                ]
            readers = ConnectionPool(server, max: readersMax, waitSecondsMax: waitSecondsMax)
            writers = ConnectionPool(server, max: 1, waitSecondsMax: waitSecondsMax)
        }

        /// Whether the database has a catalog.
        static func isThere(_ connection: Connection) throws -> Bool {
            let rows = try connection.run(
                "SELECT to_regclass('\(migrator.schema).migrations') IS NOT NULL")
            return rows.number(0, 0) != 0
        }

        /// What a session on the catalog's tables is like.
        static func options(_ options: ConnectionOptions) -> ConnectionOptions {
            var options = options
            options.settings.append("SET search_path = \(migrator.schema)")
            return options
        }

        /// Moves with the changes of all processes, before any of them is acknowledged; with each look while others do not
        /// wait for this one.
        package var version: Int {
            guard presence.withLock({ $0?.isCurrent ?? true }) else { return moved() }
            return generation.load(ordering: .acquiring)
        }

        @discardableResult
        private func moved() -> Int { generation.add(1, ordering: .acquiringAndReleasing).newValue }

        /// Makes the process one of many, and has it wait for the others after what ends what was true.
        func join(
            identity: [UInt8], version: String, assets: String,
            now: @escaping @Sendable () -> UInt64
        ) -> ProcessPresence {
            let made = ProcessPresence(identity, version: version, assets: assets, now: now) {
                [weak self] _ in
                self?.moved()
                self?.onMove.withLock { $0 }()
            }
            presence.withLock { $0 = made }
            return made
        }

        /// The server keeps no copy of its own.
        package func removeCopies() throws {}

        package func read<Outcome: Sendable>(
            _ body: (CatalogConnection) throws -> Outcome
        ) throws -> Outcome {
            try reading {
                try body(CatalogConnection(PostgreSQLCatalogSession(connection: $0)))
            }
        }

        /// Runs a snapshot in which the tables of stores can be read, too, by the schema's name.
        func reading<Outcome>(_ body: (Connection) throws -> Outcome) throws -> Outcome {
            try using(readers, begin: Self.snapshot) { connection in
                let outcome = try body(connection)
                try connection.runLater([Query("COMMIT")])
                return outcome
            }
        }

        @discardableResult
        package func write<Outcome: Sendable>(
            endsWhatWasTrue: Bool, _ body: (CatalogConnection) throws -> Outcome
        ) throws -> Outcome {
            try writing(endsWhatWasTrue: endsWhatWasTrue) {
                try body(CatalogConnection(PostgreSQLCatalogSession(connection: $0)))
            }
        }

        /// Runs a transaction that may reach the tables of stores, too, by the schema's name.
        func writing<Outcome>(
            endsWhatWasTrue: Bool, _ body: (Connection) throws -> Outcome
        ) throws -> Outcome {
            let (outcome, version) = try using(writers, begin: turn) { connection in
                let outcome = try body(connection)
                return (outcome, try commit(connection, endsWhatWasTrue))
            }
            if let version { waitForOthers(version) }
            return outcome
        }

        private static let snapshot = [Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]

        /// Runs a body in a transaction; one session that has ended meanwhile is replaced.
        private func using<Outcome>(
            _ pool: ConnectionPool, begin: [Query], _ body: (Connection) throws -> Outcome
        ) throws -> Outcome {
            do {
                return try pool.with { pooled, keep in
                    var connection = pooled
                    do { _ = try connection.run(begin) } catch let error as PostgreSQLError
                        where error.endsSession
                    {
                        connection = try pool.connect()
                        _ = try connection.run(begin)
                    }
                    do {
                        let outcome = try body(connection)
                        keep(connection)
                        return outcome
                    } catch {
                        // NB: the first error is the one to tell; a session that is not kept ends its transaction.
                        if (try? connection.rollBack()) != nil { keep(connection) }
                        throw error
                    }
                }
            } catch let error as PostgreSQLError {
                throw error.failure
            }
        }

        /// - Returns: the version that this has made; nil where nothing has ended that was true.
        private func commit(_ connection: Connection, _ endsWhatWasTrue: Bool) throws -> Int64? {
            let mark = marks.next()
            var last = mark.writing
            if endsWhatWasTrue {
                let move = "UPDATE catalog_version SET version = version + 1 WHERE id = 0"
                last.insert(Query("\(move) RETURNING version"), at: 0)
            }
            // After a failed commit nobody knows what is there, so caches are dropped then, too.
            defer { if endsWhatWasTrue { moved() } }
            let rows = try connection.run(last)
            switch connection.commit(after: []) {
            case .committed: break
            case .undone(let error): throw error
            case .indeterminate(let error): guard try isCommitted(mark) else { throw error }
            }
            return endsWhatWasTrue ? rows.first?.number(0, 0) : nil
        }
    }
#endif
