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
            let made = try makeSuccessor(of: former)
            defer {
                // NB: where the row stays, the next start after this process looks for what is due in the store.
                try? session { try StoreCreation.forgetOpening(of: made, by: process, $0) }
            }
            try begin(made, beginning)
            try put(made, inPlaceOf: former, as: key)
            try longSession { try removed($0).removeRows(of: former) }
        }

        /// Makes a store with the history of another's schema.
        ///
        /// It counts as removed until it takes the other's place. As long as this process lives and has it open, nobody
        /// takes it away (`RemovedStores.all`).
        private func makeSuccessor(of former: Int64) throws -> Int64 {
            let now = options.clock.now()
            return try session { connection in
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
                    _ = try connection.run(
                        "INSERT INTO openings (store, process) VALUES ($1, $2)", .number(made),
                        .bytes(process))
                    return made
                }
            }
        }

        private func begin(_ made: Int64, _ beginning: StoreBeginning) throws {
            var storeOptions = storeOptions(CommitNotices())
            storeOptions.clock = Clock { beginning.moment }
            let store = PostgreSQLStore(made, sessions, storeOptions)
            defer { store.close() }
            try store.writeAndWait { transaction in
                try transaction.replaceSchema(
                    by: beginning.schema, who: beginning.who, difference: beginning.difference)
            }
        }

        /// Gives a store the name of another, and goes on with its positions.
        ///
        /// - Throws: `StorageFailure.moved` where the container has left meanwhile: a copy may have the former one.
        private func put(_ made: Int64, inPlaceOf former: Int64, as key: StoreKey) throws {
            try session { connection in
                let creation = StoreCreation(
                    connection: connection, random: options.random, now: options.clock.now())
                try creation.transaction {
                    // Behind the last group that somebody commits there.
                    let last = try connection.run(
                        "DELETE FROM progress WHERE store = $1 RETURNING last_position",
                        .number(former))
                    guard last.count == 1 else { throw StorageFailure.missing }
                    let marks = try connection.run([MovedStores.mark(of: key.container)])
                    guard marks[0].count == 0 else { throw StorageFailure.moved }
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

        package func remove(
            _ container: ContainerID, others: (_ goesOn: () -> Bool) throws -> Void
        ) throws {
            try longSession { connection in
                let turn = NameTurn(of: container, connection)
                // Before anybody can make it again.
                try turn.take()
                defer { turn.giveBack() }
                try delete(container)
                // Before the rest: where this fails, the rows tell the next start what was left to do.
                try others { turn.isHeld }
                try removed(connection).removeAll(of: container.folded)
            }
        }

        private func removed(_ connection: Connection) -> RemovedStores {
            RemovedStores(connection, now: options.clock.now())
        }

        /// Takes a container out of the catalog, and its stores out of everybody's reach.
        private func delete(_ container: ContainerID) throws {
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
                    UPDATE stores.stores p SET removed_at = ?2, container = ?1,
                        label = s.container || '/'::bytea || s.environment
                    FROM stores s WHERE s.container = ?1 AND p.name = s.name
                    """, .text(container.folded), .integer(now))
            }
        }

        package func recover(
            others: (StoreKey, _ goesOn: () -> Bool) throws -> Void
        ) throws {
            try longSession { connection in
                let removed = removed(connection)
                var ended: Set<String> = []
                for store in try removed.all() {
                    if let name = store.container {
                        if removed.isDue(store) { ended.insert(name) }
                    } else {
                        try removed.removeRows(of: store.number)
                    }
                }
                for name in ended { try removed.finish(name, others) }
            }
        }
    }
#endif
