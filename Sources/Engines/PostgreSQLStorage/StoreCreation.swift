#if PostgreSQL
    import CloudModel
    import MigrationHistory
    import PostgreSQL
    import PostgreSQLMigrations
    import Storage
    import StoredRows

    /// Finds and makes stores among the tables of all stores; the session looks into those first.
    struct StoreCreation {
        /// Brings the tables of all stores to the form of this version.
        static let migrator = Migrator(
            MigrationHistory(embedded: lenticular_postgres_migrations()),
            schema: StoreSessions.schema,
            outdated: KnownMigrations.outdated)

        /// How far a counter moves with another life: further than the life before can have gone since it was copied.
        private static let copyGap: Position = 1 << 30
        private static let dayMilliseconds: Milliseconds = 86_400_000

        let connection: Connection
        let random: (Int) -> [UInt8]
        let now: Milliseconds

        /// The number of the store of a name, which is made where there is none; a transaction of its own.
        ///
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        func findOrMake(named name: [UInt8]) throws -> Int64 {
            try Self.migrator.migrate(connection)
            return try transaction {
                _ = try connection.run("SELECT pg_advisory_xact_lock($1)", .number(Self.lock))
                return try find(named: name) ?? make(named: name)
            }
        }

        /// "LenN", read as a number: the lock of the one that makes a store by its name.
        private static let lock: Int64 = 0x4c65_6e4e

        /// Runs a body as one transaction.
        func transaction<Value>(_ body: () throws -> Value) throws -> Value {
            _ = try connection.run([Query("BEGIN")])
            do {
                let value = try body()
                switch connection.commit(after: []) {
                case .committed: return value
                case .undone(let error), .indeterminate(let error): throw error
                }
            } catch {
                // NB: the first error is the one to tell; a transaction left open ends with its session.
                try? connection.rollBack()
                throw error
            }
        }

        func find(named name: [UInt8]) throws -> Int64? {
            let rows = try connection.run(
                "SELECT store FROM stores WHERE name = $1 AND removed_at IS NULL", .bytes(name))
            return rows.count == 1 ? rows.number(0, 0) : nil
        }

        /// Makes a store that has nothing but what each has; in the caller's transaction.
        func make(named name: [UInt8], tokenKey: [UInt8]? = nil) throws -> Int64 {
            let store = try Self.insert(
                named: name, tokenKey: tokenKey ?? random(32), random, connection)
            _ = try connection.run(firstRows(store, try connection.node()))
            return store
        }

        /// Writes the row of a new store, and nothing else of it; in the caller's transaction.
        ///
        /// Its number is not the next one: a standby that is promoted may not know that this was given out, and a process
        /// may still have the store open that had it.
        ///
        /// - Parameter label: by `label(of:)`, of what another engine's rows make, before the catalog has its name.
        static func insert(
            named name: [UInt8], tokenKey: [UInt8], label: [UInt8]? = nil,
            _ random: (Int) -> [UInt8], _ connection: Connection
        ) throws -> Int64 {
            let store = randomNumber(bytes: 7, random)
            _ = try connection.run(
                """
                INSERT INTO stores (store, name, token_key, label)
                VALUES ($1, $2, $3, $4)
                """, .number(store), .bytes(name), .bytes(tokenKey), .bytes(label))
            return store
        }

        /// Has a store go on with another life, far ahead; in the caller's transaction.
        ///
        /// - Returns: false for one of which nothing says where it stands.
        func beginLife(of store: Int64) throws -> Bool {
            let rows = try connection.run([
                Progress.query(store, page: 0, locked: true)
            ])
            guard let row = rows.first, row.count == 1 else { return false }
            let last = try Progress(row)
            // Two lives from one copy must not give out the same numbers either.
            let further = randomNumber(bytes: 4, random) >> 2
            let node = try connection.node()
            _ = try connection.run([
                Query(
                    """
                    INSERT INTO incarnations (store, number, last_position, ended_at)
                    VALUES ($1, $2, $3, NULL)
                    """, .number(store), .number(last.incarnation), .number(last.lastPosition)),
                Query(
                    """
                    UPDATE progress SET incarnation = $2, last_position = $3, cluster = $4,
                        timeline = $5, life_count = life_count + 1
                    WHERE store = $1
                    """, .number(store), .number(randomNumber(bytes: 7, random)),
                    .number(last.lastPosition + Self.copyGap + further),
                    .number(node.cluster), .number(node.timeline)),
            ])
            return true
        }

        /// What a store is called without its name in the catalog: one that another engine's rows make, and one that was
        /// removed.
        static func label(of key: StoreKey) -> [UInt8] {
            Array("\(key.container.folded)/\(key.environment.rawValue)".utf8)
        }

        /// Takes a store's name for the caller's transaction, which makes one.
        ///
        /// What a container of that name has left in the environment's files is the new store's from then on, which finds
        /// it by and by.
        ///
        /// - Throws: `StorageFailure.beginning` while somebody removes that, or takes in a store of that name.
        func claim(_ key: StoreKey) throws {
            let label = Self.label(of: key)
            let turn = try connection.run(
                "SELECT pg_try_advisory_xact_lock(\(NameTurn.lock))", .bytes(label))
            guard turn.number(0, 0) != 0 else { throw StorageFailure.beginning }
            _ = try connection.run(
                """
                UPDATE stores SET container = NULL
                WHERE container = $1 AND removed_at IS NOT NULL AND label = $2
                """, .text(key.container.folded), .bytes(label))
        }

        /// Takes what such rows have made out of reach; in the caller's transaction.
        func abandon(label: [UInt8]) throws {
            _ = try connection.run(
                """
                WITH gone AS (
                    UPDATE stores SET removed_at = $2
                    WHERE label = $1 AND removed_at IS NULL RETURNING store)
                DELETE FROM progress WHERE store IN (SELECT store FROM gone)
                """, .bytes(label), .number(now))
        }

        /// Notes that a process has a store open, and forgets what others have left there that do not live.
        ///
        /// To be called within a transaction. Who takes a container out of use writes the catalog, and so waits for its end.
        ///
        /// - Throws: `StorageFailure.moved` for a container that is out of use.
        func noteOpening(
            of store: Int64, in container: ContainerID, by process: [UInt8]
        ) throws {
            let rows = try connection.run([
                Query("SELECT version FROM catalog.catalog_version WHERE id = 0 FOR SHARE"),
                MovedStores.mark(of: container),
                Query(
                    "DELETE FROM group_marks WHERE store = $1 AND committed_at < $2",
                    .number(store), .number(now - Self.dayMilliseconds)),
                Query(
                    """
                    DELETE FROM openings o
                    WHERE o.store = $1 AND NOT \(LivingProcesses.lives("o.process"))
                    """, .number(store)),
                Query(
                    """
                    INSERT INTO openings (store, process) VALUES ($1, $2)
                    ON CONFLICT (store, process) DO NOTHING
                    """, .number(store), .bytes(process)),
            ])
            guard rows[1].count == 0 else { throw StorageFailure.moved }
        }

        /// Notes that a process has closed a store and knows when it is due.
        static func forgetOpening(
            of store: Int64, by process: [UInt8], _ connection: Connection
        ) throws {
            _ = try connection.run(
                "DELETE FROM openings WHERE store = $1 AND process = $2", .number(store),
                .bytes(process))
        }

        private func firstRows(_ store: Int64, _ node: Node) -> [Query] {
            let first = NextNumbers.first
            var schema = Schema()
            for (number, name) in [RecordTypeName.users, .share].enumerated() {
                schema.types[name] = Schema.builtInTypes[name]
                schema.types[name]?.number = Int64(number + 1)
            }
            return [
                Query(
                    """
                    INSERT INTO progress (store, last_position, schema_revision, life_count,
                        incarnation, cluster, timeline, next_owner, next_zone, next_record, next_type,
                        next_role, next_work, next_share, next_request, index_revision, next_index)
                    VALUES ($1, 0, 0, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $13)
                    """, .number(store), .number(randomNumber(bytes: 7, random)),
                    .number(node.cluster), .number(node.timeline), .number(first.owner),
                    .number(first.zone), .number(first.record), .number(first.type),
                    .number(first.role), .number(first.work), .number(first.share),
                    .number(first.request), .number(first.index)),
                Query(
                    "INSERT INTO owners (store, owner, record_name) VALUES ($1, 0, $2)",
                    .number(store), .text(UserRecordName.publicOwner.text)),
            ] + SchemaChange.queries(store, schema)
        }
    }
#endif
