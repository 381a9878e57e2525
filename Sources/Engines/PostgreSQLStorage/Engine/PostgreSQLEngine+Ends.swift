#if PostgreSQL
    import CatalogSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What begins anew, and what ends. Each is one short transaction, after which nobody reaches the old rows; they
    // are removed by and by.
    extension PostgreSQLEngine {
        package func reset(_ key: StoreKey, to beginning: StoreBeginning) throws {
            let former = try storeNumber(key)
            let made = try makeSuccessor(of: former, beginning)
            try put(made, inPlaceOf: former)
            try longSession { try RemovedStores($0).removeRows(of: former) }
        }

        /// Makes a store with a schema and the history of another's, which counts as removed until it takes its place.
        private func makeSuccessor(of former: Int64, _ beginning: StoreBeginning) throws -> Int64 {
            let now = options.clock.now()
            let made = try longSession { connection in
                let creation = StoreCreation(
                    connection: connection, random: options.random, now: now)
                return try creation.transaction {
                    let key = try connection.run(
                        "SELECT token_key FROM stores WHERE store = $1", .number(former))
                    guard key.count == 1 else { throw StorageFailure.missing }
                    let made = try creation.make(
                        named: options.random(16), tokenKey: Array(key.bytes(0, 0)))
                    _ = try connection.run(
                        "UPDATE stores SET removed_at = $2 WHERE store = $1", .number(made),
                        .number(now))
                    _ = try connection.run(
                        """
                        INSERT INTO schema_changes (store, number, made_at, made_by, difference)
                        SELECT $1, number, made_at, made_by, difference FROM schema_changes
                        WHERE store = $2
                        """, .number(made), .number(former))
                    return made
                }
            }
            var storeOptions = storeOptions(CommitNotices())
            storeOptions.clock = Clock { beginning.moment }
            let store = PostgreSQLStore(made, sessions, storeOptions)
            defer { store.close() }
            try store.writeAndWait { transaction in
                try transaction.replaceSchema(
                    by: beginning.schema, who: beginning.who, difference: beginning.difference)
            }
            return made
        }

        /// Gives a store the name of another, and goes on with its positions.
        private func put(_ made: Int64, inPlaceOf former: Int64) throws {
            try longSession { connection in
                let creation = StoreCreation(
                    connection: connection, random: options.random, now: options.clock.now())
                try creation.transaction {
                    // Behind the last group that somebody commits there.
                    let last = try connection.run(
                        "DELETE FROM progress WHERE store = $1 RETURNING last_position",
                        .number(former))
                    guard last.count == 1 else { throw StorageFailure.missing }
                    let name = try connection.run(
                        "SELECT name FROM stores WHERE store = $1", .number(former))
                    _ = try connection.run([
                        Query(
                            "UPDATE stores SET name = $2, removed_at = $3 WHERE store = $1",
                            .number(former), .bytes(options.random(16)),
                            .number(options.clock.now())),
                        .requiring(
                            1,
                            "UPDATE stores SET name = $2, removed_at = NULL WHERE store = $1",
                            .number(made), .bytes(Array(name.bytes(0, 0)))),
                        .requiring(
                            1, "UPDATE progress SET last_position = $2 WHERE store = $1",
                            .number(made), .number(last.number(0, 0))),
                    ])
                }
            }
        }

        package func remove(_ container: ContainerID, others: () throws -> Void) throws {
            let now = options.clock.now()
            try tables.delete(container) { catalog in
                // Who has one of them open finds it missing from here on.
                try catalog.run(
                    """
                    DELETE FROM stores.progress WHERE store IN (
                        SELECT p.store FROM stores.stores p JOIN stores s ON s.name = p.name
                        WHERE s.container = ?)
                    """, .text(container.folded))
                try catalog.run(
                    """
                    UPDATE stores.stores SET removed_at = ?2, container = ?1
                    WHERE name IN (SELECT s.name FROM stores s WHERE s.container = ?1)
                    """, .text(container.folded), .integer(now))
            }
            // Before the rest: where this fails, the rows tell the next start what was left to do.
            try others()
            try removeRows { $0 == container.folded }
        }

        package func recover(others: (ContainerID) throws -> Void) throws {
            var isKept: [String: Bool] = [:]
            try removeRows { name in
                guard let name else { return true }
                if let isKept = isKept[name] { return !isKept }
                // One made again under the name has its own data, and finds those of others by and by.
                guard let container = ContainerID(name),
                    try tables.container(container) == nil
                else { return true }
                // NB: what does not answer keeps nobody from starting; the next start tries.
                do { try others(container) } catch {
                    isKept[name] = true
                    return false
                }
                isKept[name] = false
                return true
            }
        }

        /// Removes the rows of removed stores.
        ///
        /// - Parameter isWanted: asked for each with its container; nil for one that another took the place of.
        private func removeRows(_ isWanted: (String?) throws -> Bool) throws {
            try longSession { connection in
                let removed = RemovedStores(connection)
                for store in try removed.all() where try isWanted(store.container) {
                    try removed.removeRows(of: store.number)
                }
            }
        }
    }
#endif
