#if PostgreSQL
    import MigrationHistory
    import PostgreSQL
    import PostgreSQLMigrations

    /// The schema of what happened on all processes.
    enum LogsSchema {
        static let migrator = Migrator(
            MigrationHistory(embedded: lenticular_postgres_logs_migrations()), schema: "logs",
            outdated: KnownMigrations.outdated)
        /// What writers of lines of requests take turns by, so that numbers are in the order of commits.
        static let requestsLock: Int64 = 0x4c65_6e52
        /// What writers of the audit log take turns by.
        static let auditLock: Int64 = 0x4c65_6e41
    }
#endif
