#if PostgreSQL
    import CatalogSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // Which stores there are. The catalog knows each by a name that the row of the store has, too.
    extension PostgreSQLEngine {
        /// Of what a store is called in the catalog.
        private static let nameBytes = 16

        package func stores(_ request: ListRequest) throws -> ListPage<KnownStore> {
            let page = try tables.stores(request)
            let states = try states(of: page.items.map(\.key))
            return page.map { store in
                let state = states[store.key]
                return KnownStore(
                    key: store.key, due: store.due, isLeftOpen: state?.isLeftOpen ?? false,
                    isThere: state?.number != nil)
            }
        }

        package func examine(_ keys: [StoreKey]) throws -> [Result<StoreFinding, any Error>] {
            let states = try states(of: keys)
            return keys.map { key in
                guard let known = states[key] else { return .success(.unknown) }
                return .success(known.number == nil ? .missing : .there)
            }
        }

        /// A store that the catalog knows.
        private struct StoreState {
            /// Nil where its data are gone.
            let number: Int64?
            let isLeftOpen: Bool
        }

        private static let statesText = """
            SELECT k.number, g.store, EXISTS (
                SELECT 1 FROM stores.openings o
                WHERE o.store = p.store AND o.process <> $3
                    AND NOT \(LivingProcesses.lives("o.process")))
            FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY
                    AS k (container, environment, number)
                JOIN stores s ON s.container = k.container AND s.environment = k.environment
                LEFT JOIN stores.stores p ON p.name = s.name AND p.removed_at IS NULL
                LEFT JOIN stores.progress g ON g.store = p.store
            """

        /// Those of the stores that the catalog knows.
        private func states(of keys: [StoreKey]) throws -> [StoreKey: StoreState] {
            let rows = try tables.reading { connection in
                try connection.run(
                    Self.statesText, .texts(keys.map(\.container.folded)),
                    .texts(keys.map(\.environment.rawValue)), .bytes(process))
            }
            var states: [StoreKey: StoreState] = [:]
            for row in 0..<rows.count {
                states[keys[Int(rows.number(row, 0)) - 1]] = StoreState(
                    number: rows.optionalNumber(row, 1), isLeftOpen: rows.number(row, 2) != 0)
            }
            return states
        }

        /// The number of a store, which is made where the catalog knows none.
        ///
        /// - Throws: `CatalogRefusal.containerUnknown`, `StorageFailure.missing`.
        func storeNumber(_ key: StoreKey) throws -> Int64 {
            if let known = try knownNumber(key) ?? makeStore(key) ?? knownNumber(key) {
                return known
            }
            throw StorageFailure.missing
        }

        /// Nil for a store that the catalog does not know.
        func knownNumber(_ key: StoreKey) throws -> Int64? {
            guard let known = try states(of: [key])[key] else { return nil }
            guard let number = known.number else { throw StorageFailure.missing }
            return number
        }

        /// Makes a store and has the catalog know it, in one transaction; nil where another process was first.
        private func makeStore(_ key: StoreKey) throws -> Int64? {
            try tables.writing(endsWhatWasTrue: false) { connection in
                let catalog = CatalogConnection(PostgreSQLCatalogSession(connection: connection))
                try PostgreSQLCatalog.requireContainer(key.container, in: catalog)
                let name = options.random(Self.nameBytes)
                let added = try catalog.run(
                    """
                    INSERT INTO stores (container, environment, name) VALUES (?, ?, ?)
                    ON CONFLICT DO NOTHING
                    """, .text(key.container.folded), .text(key.environment.rawValue), .bytes(name))
                guard added == 1 else { return nil }
                return try inStores(connection) {
                    let creation = StoreCreation(
                        connection: connection, random: options.random, now: options.clock.now())
                    try creation.claim(key)
                    // What a copy has left here that did not come to its end is nobody's by now.
                    try creation.abandon(label: StoreCreation.label(of: key))
                    return try creation.make(named: name)
                }
            }
        }

        /// Has a transaction of the catalog go on in the tables of stores.
        private func inStores<Value>(
            _ connection: Connection, _ body: () throws -> Value
        ) throws -> Value {
            _ = try connection.run([Query("SET LOCAL search_path = \(StoreSessions.schema)")])
            let value = try body()
            let schema = PostgreSQLCatalog.migrator.schema
            _ = try connection.run([Query("SET LOCAL search_path = \(schema)")])
            return value
        }

        // MARK: - Checking

        package func problems(
            of part: EnginePart, lossesSince moment: Milliseconds
        ) throws -> [String] {
            switch part {
            case .catalog:
                return try tables.reading { try Self.catalogProblems($0) + Self.strays($0) }
            case .store(let key):
                let number = try storeNumber(key)
                return try longSession { connection in
                    let snapshot = PostgreSQLSnapshot(connection, number, StoreFacts(), stop: nil)
                    return try StoreCheck(snapshot).problems()
                }
            }
        }

        static func catalogProblems(_ connection: Connection) throws -> [String] {
            let rules = PostgreSQLCatalog.rules { "octet_length(\($0)) <> \($1)" }
            return try CatalogRule.problems(of: rules) { try connection.run($0).number(0, 0) }
        }

        /// Stores that no container knows.
        private static func strays(_ connection: Connection) throws -> [String] {
            let rows = try connection.run(
                """
                SELECT p.store FROM stores.stores p WHERE p.removed_at IS NULL
                    AND NOT EXISTS (SELECT 1 FROM stores s WHERE s.name = p.name) ORDER BY p.store
                """)
            return (0..<rows.count).map { "a store that no container owns: \(rows.number($0, 0))" }
        }
    }
#endif
