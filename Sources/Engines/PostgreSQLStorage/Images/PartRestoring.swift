#if PostgreSQL
    import CatalogSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Puts what an image has into the tables of its part, in one transaction.
    struct PartRestoring {
        private static let assetsPerPage = 1_000

        private static let hasData = ForeignImage("the database has data already")

        /// Has what the server numbers go on behind the rows that came with their numbers.
        private static let numberOn = """
            DO $$ DECLARE numbered record; BEGIN
                FOR numbered IN
                    SELECT attrelid::regclass AS relation, attname FROM pg_attribute
                        JOIN pg_class c ON c.oid = attrelid
                    WHERE attidentity <> '' AND relnamespace = current_schema()::regnamespace
                LOOP
                    EXECUTE format(
                        'SELECT setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 0) + 1, false) FROM %s',
                        numbered.relation, numbered.attname, numbered.attname, numbered.relation);
                END LOOP;
            END $$
            """

        private let connection: Connection
        private let isCatalog: Bool
        private let random: (Int) -> [UInt8]

        init(
            _ part: EnginePart, _ options: ConnectionOptions,
            random: @escaping (Int) -> [UInt8]
        ) throws {
            isCatalog = part == .catalog
            connection = try Connection(
                isCatalog
                    ? PostgreSQLCatalog.options(options) : StoreSessions.options(options))
            connection.deadline = .distantFuture
            self.random = random
        }

        /// - Throws: what the closures throw, `DamagedImage`, `ForeignImage`, `PostgreSQLError`.
        func restore(
            from write: (_ visit: ([UInt8]) throws -> Void) throws -> Void,
            assets visit: (ReferencedAsset) throws -> Void
        ) throws {
            // Its stores may have the names of those in the image, and are not the leavings of a restore.
            guard try !PostgreSQLCatalog.isThere(connection) else { throw Self.hasData }
            if isCatalog {
                var isMade = false
                try PostgreSQLCatalog.migrator.migrate(connection) {
                    isMade = true
                    _ = try rows(from: write)
                    try connection.run(
                        script: "DELETE FROM secrets WHERE name IN (\(LocalSecret.list))")
                    try connection.run(script: Self.numberOn)
                }
                guard isMade else { throw Self.hasData }
                return
            }
            try StoreCreation.migrator.migrate(connection)
            let creation = StoreCreation(connection: connection, random: random, now: 0)
            let store = try creation.transaction {
                let store = try rows(from: write)
                guard try creation.beginLife(of: store) else {
                    throw DamagedImage("it does not say where the store stands")
                }
                return store
            }
            try visitAssets(of: store, visit)
        }

        /// The store whose rows they are; 0 for the catalog.
        private func rows(
            from write: (_ visit: ([UInt8]) throws -> Void) throws -> Void
        ) throws -> Int64 {
            var blocks = ImageBlockReader()
            var reader = ImageReader(connection, isCatalog: isCatalog, random)
            try write { try blocks.take($0) { try reader.take($0) } }
            try blocks.finish()
            return try reader.finish()
        }

        private func visitAssets(of store: Int64, _ visit: (ReferencedAsset) throws -> Void) throws
        {
            var last: AssetDigest?
            while true {
                let page = try StoredAssets.rows(
                    connection, of: store, after: last, limit: Self.assetsPerPage)
                try page.forEach(visit)
                last = page.last?.content.digest
                guard page.count == Self.assetsPerPage else { return }
            }
        }
    }

    /// An image of another version, or for a place where it does not belong.
    struct ForeignImage: EngineFault {
        let description: String

        init(_ words: String) { description = words }

        var finding: EngineFinding { .foreign }
    }
#endif
