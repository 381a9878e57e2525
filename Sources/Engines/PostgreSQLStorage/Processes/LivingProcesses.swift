#if PostgreSQL
    import PostgreSQL
    import Storage
    import StoredRows

    /// A server process that lives, as the others see it.
    package struct LivingProcess: Equatable, Sendable {
        /// Random, made at its start.
        package let identity: [UInt8]
        /// Of the program.
        package let version: String
        /// The catalog's version up to which it has dropped what it kept.
        package let catalogVersion: Int64
        /// Names where its assets are.
        package var assets = ""
        /// When it began and when it was heard of last, by the database's clock; 0 for what is not known yet.
        package var begunAt: Int64 = 0
        package var seenAt: Int64 = 0
        /// What it knows of the database.
        package var migrations = KnownMigrations.own

        package init(identity: [UInt8], version: String, catalogVersion: Int64) {
            self.identity = identity
            self.version = version
            self.catalogVersion = catalogVersion
        }
    }

    /// The table of the processes on one database: one lives as long as its lease, by the server's clock alone.
    ///
    /// So no process compares its clock with another's, and one that was stopped for a while is dead to the others
    /// meanwhile. Whether a step may still be done its own lease decides (`StepLease`), not this table.
    package struct LivingProcesses {
        /// How long a process lives without a word.
        package static let leaseMilliseconds: Int64 = 5_000
        /// How long a dead one is remembered, for those who look for what happened.
        private static let rememberedMilliseconds: Int64 = 86_400_000

        static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        private static let columns =
            "process, version, catalog_version, begun_at, seen_at, assets, migrations"

        /// Whether the process of a column lives, in SQL.
        static func lives(_ column: String) -> String {
            """
            EXISTS (SELECT 1 FROM catalog.processes living
                WHERE living.process = \(column) AND living.lives_until > \(now))
            """
        }

        private let connection: Connection

        /// - Parameter connection: to the database of a `PostgreSQLCatalog`.
        package init(_ connection: Connection) { self.connection = connection }

        /// Renews the lease of a process and forgets those who are long dead, in one statement.
        ///
        /// - Returns: who lives, the process itself among them.
        package func renew(
            _ process: LivingProcess, for milliseconds: Int64 = leaseMilliseconds
        ) throws -> [LivingProcess] {
            let rows = try connection.run(
                """
                WITH renewed AS (
                    INSERT INTO catalog.processes AS p
                        (process, version, catalog_version, begun_at, seen_at, lives_until, assets,
                            migrations)
                    VALUES ($1, $2, $3, \(Self.now), \(Self.now), \(Self.now) + $4, $6, $7)
                    ON CONFLICT (process) DO UPDATE SET version = excluded.version,
                        catalog_version = excluded.catalog_version,
                        seen_at = excluded.seen_at, lives_until = excluded.lives_until
                    RETURNING \(Self.columns)),
                forgotten AS (
                    DELETE FROM catalog.processes
                    WHERE process <> $1 AND lives_until < \(Self.now) - $5)
                SELECT \(Self.columns) FROM renewed UNION ALL
                SELECT \(Self.columns) FROM catalog.processes
                WHERE process <> $1 AND lives_until > \(Self.now) ORDER BY begun_at, process
                """, .bytes(process.identity), .text(process.version),
                .number(process.catalogVersion), .number(milliseconds),
                .number(Self.rememberedMilliseconds), .text(process.assets),
                .text(process.migrations.text))
            return Self.processes(rows)
        }

        /// Those who live and have not come up to a version of the catalog yet.
        ///
        /// Who has changed the catalog waits until there are none: they have confirmed it, or their lease has ended.
        ///
        /// - Parameter identity: of the process that asks, which is not among them.
        package func behind(
            catalogVersion: Int64, but identity: [UInt8] = []
        ) throws -> [LivingProcess] {
            Self.processes(
                try connection.run(
                    """
                    SELECT \(Self.columns) FROM catalog.processes
                    WHERE lives_until > \(Self.now) AND catalog_version < $1 AND process <> $2
                    ORDER BY begun_at, process
                    """, .number(catalogVersion), .bytes(identity)))
        }

        /// Those who live, in the order in which they began.
        package func living() throws -> [LivingProcess] { try behind(catalogVersion: .max) }

        /// Ends the lease of a process that ends in order, so that nobody waits for it.
        package func end(_ identity: [UInt8]) throws {
            _ = try connection.run(
                "DELETE FROM catalog.processes WHERE process = $1", .bytes(identity))
        }

        private static func processes(_ rows: Rows) -> [LivingProcess] {
            (0..<rows.count).map {
                var process = LivingProcess(
                    identity: Array(rows.bytes($0, 0)), version: rows.text($0, 1),
                    catalogVersion: rows.number($0, 2))
                process.begunAt = rows.number($0, 3)
                (process.seenAt, process.assets) = (rows.number($0, 4), rows.text($0, 5))
                process.migrations = KnownMigrations(rows.text($0, 6))
                return process
            }
        }
    }
#endif
