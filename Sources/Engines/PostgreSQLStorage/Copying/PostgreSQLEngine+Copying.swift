#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // Parts as rows that any engine takes.
    extension PostgreSQLEngine {
        package func readRows<Value: Sendable>(
            of part: CopiedPart, _ body: (CopiedRows) throws -> Value
        ) throws -> Value {
            switch part {
            case .catalog(let container): return try tables.readRows(of: container, body)
            case .store(let key):
                guard let number = try knownNumber(key) else { throw StorageFailure.missing }
                return try longSession { connection in
                    try waitUntilClosed(key, number, connection)
                    try MovedStores.waitForGroup(in: number, connection)
                    _ = try connection.run([
                        Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    ])
                    return try body(StoreRowReader(connection, number).rows())
                }
            }
        }

        package func takeRows<Value: Sendable>(
            of part: CopiedPart, _ body: (TakenRows) throws -> Value
        ) throws -> Value {
            switch part {
            case .catalog(let container): return try tables.takeRows(of: container, body)
            case .store(let key):
                guard try tables.container(key.container) == nil else {
                    throw CatalogRefusal.containerExists
                }
                return try longSession { connection in
                    let creation = StoreCreation(
                        connection: connection, random: options.random, now: options.clock.now())
                    let taker = try StoreRowTaker(key, creation)
                    let value = try body(taker.taking())
                    _ = try connection.run([StatisticsPace.look])
                    return value
                }
            }
        }

        package func beginLife(of key: StoreKey) throws {
            guard let number = try knownNumber(key) else { throw StorageFailure.missing }
            try session { connection in
                let creation = StoreCreation(
                    connection: connection, random: options.random, now: options.clock.now())
                let isBegun = try creation.transaction { try creation.beginLife(of: number) }
                guard isBegun else { throw StorageFailure.missing }
            }
        }
    }
#endif
