#if PostgreSQL
    import PostgreSQL

    /// How many migrations of each schema a process knows.
    package struct KnownMigrations: Equatable, Sendable {
        private static let migrators = [
            PostgreSQLCatalog.migrator, StoreCreation.migrator, LogsSchema.migrator,
            PostgreSQLTelemetry.migrator,
        ]

        /// Of this program.
        package static let own = KnownMigrations(
            migrators.map { "\($0.schema)=\($0.history.migrations.count)" }
                .joined(separator: " "))

        /// Such as `catalog=1 stores=2`.
        package let text: String

        package init(_ text: String) { self.text = text }

        func count(of schema: String) -> Int {
            text.split(separator: " ").compactMap { word in
                let parts = word.split(separator: "=")
                return parts.count == 2 && parts[0] == schema ? Int(parts[1]) : nil
            }.first ?? 0
        }

        /// The living processes that know fewer than so many of a schema; for `Migrator`.
        package static func outdated(
            _ connection: Connection, _ schema: String, _ knownMin: Int
        ) throws -> [String] {
            let rows = try connection.run("SELECT to_regclass('catalog.processes') IS NOT NULL")
            guard rows.number(0, 0) != 0 else { return [] }
            return try LivingProcesses(connection).living()
                .filter { $0.migrations.count(of: schema) < knownMin }
                .map { "\(SessionOwner.digits(of: $0.identity)) (\($0.version))" }
        }

        /// Refuses a database that has become of a newer form than this program can work with, since it was looked at.
        ///
        /// Who migrates looks for processes that live, so one of this program is to be among them by now.
        ///
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        static func requireUsable(_ connection: Connection) throws {
            for migrator in migrators { _ = try migrator.pendingCount(connection) }
        }
    }
#endif
