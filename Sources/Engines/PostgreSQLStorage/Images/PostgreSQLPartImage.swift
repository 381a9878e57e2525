#if PostgreSQL
    import CloudModel
    import MigrationHistory
    import PostgreSQL
    import Storage
    import StoredRows

    /// A part as one transaction has it.
    final class PostgreSQLPartImage: PartImage {
        /// What the catalog's image is called in its head, and a store's.
        enum Kind: String {
            case catalog, store
        }

        let mark: [UInt8]?
        private let connection: Connection
        /// Nil for the catalog.
        private let store: Int64?
        private let head: ImageText
        private let tables: [TableLayout]
        private var stream: ImageStream

        /// What an image leaves out: whose a store is, which processes live, what they count, and what they have open, do or
        /// have written.
        private static let tablesOfServer: Set<String> = [
            "stores", "openings", "group_marks", "leases",
        ]
        private static let tablesOfProcesses: Set<String> = [
            "processes", "guess_counts", "commit_marks",
        ]

        /// - Parameter connection: is in a transaction, and looks into the tables of the part first.
        init(_ connection: Connection, of store: Int64?) throws {
            self.connection = connection
            self.store = store
            var head = ImageText()
            head.append(ImageText.mark)
            let kind = store == nil ? Kind.catalog : .store
            head.append(kind.rawValue)
            let migrator = store == nil ? PostgreSQLCatalog.migrator : StoreCreation.migrator
            head.append(migrator.history.migrations.count)
            for migration in migrator.history.migrations {
                head.append(migration.name)
                head.append(String(migration.checksum))
            }
            if let store {
                let row = try connection.run(
                    "SELECT name, token_key FROM stores WHERE store = $1", .number(store))
                guard row.count == 1 else { throw StorageFailure.missing }
                head.append(row.bytes(0, 0))
                head.append(row.bytes(0, 1))
            }
            self.head = head
            tables = try TableLayout.tables(of: connection).filter {
                store == nil
                    ? !Self.tablesOfProcesses.contains($0.name)
                    : $0.hasStore && !Self.tablesOfServer.contains($0.name)
            }
            mark = try store.map { try Self.mark(of: $0, connection) }
            stream = ImageStream(connection, of: store, tables, head: head)
        }

        /// Moves with every group of writes.
        private static func mark(of store: Int64, _ connection: Connection) throws -> [UInt8] {
            let progress = try connection.run(
                "SELECT incarnation, last_position, commit_count FROM progress WHERE store = $1",
                .number(store))
            guard progress.count == 1 else { throw StorageFailure.missing }
            return [store, progress.number(0, 0), progress.number(0, 1), progress.number(0, 2)]
                .flatMap(bytes)
        }

        private static func bytes(_ number: Int64) -> [UInt8] {
            withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }

        func read(at offset: Int64, count: Int) throws -> [UInt8] {
            do {
                if offset < stream.offset {
                    // Cursors that are still open are closed with the savepoint.
                    _ = try connection.run([Query("ROLLBACK TO SAVEPOINT image")])
                    stream = ImageStream(connection, of: store, tables, head: head)
                }
                return try stream.read(at: offset, count: count)
            } catch let error as PostgreSQLError {
                throw error.failure
            }
        }

        func assets(after digest: AssetDigest?, limit: Int) throws -> [ReferencedAsset] {
            guard let store else { return [] }
            do {
                return try StoredAssets.rows(connection, of: store, after: digest, limit: limit)
            } catch let error as PostgreSQLError {
                throw error.failure
            }
        }

        func problems() throws -> [String] {
            guard let store else { return try PostgreSQLEngine.catalogProblems(connection) }
            return try StoreCheck(
                PostgreSQLSnapshot(within: connection, store, StoreFacts())
            ).problems()
        }
    }

    /// The files that a store's rows speak of, for those who copy or check all of its data.
    enum StoredAssets {
        /// The files in the order of their digests, after one of them; fewer than `limit` at the end.
        static func rows(
            _ connection: Connection, of store: Int64, after: AssetDigest?, limit: Int
        ) throws -> [ReferencedAsset] {
            let rows = try connection.run(
                """
                SELECT f.digest, f.bytes, f.references_held > 0 OR EXISTS (
                    SELECT 1 FROM asset_receipts r WHERE r.store = $1 AND r.digest = f.digest)
                FROM asset_files f WHERE f.store = $1 AND f.digest > $2 ORDER BY f.digest LIMIT $3
                """, .number(store), .bytes(after?.bytes ?? []), .number(Int64(limit)))
            return try (0..<rows.count).map { row in
                guard let digest = AssetDigest(rows.bytes(row, 0)) else {
                    throw InvalidRow(table: "asset_files")
                }
                return ReferencedAsset(
                    content: AssetContent(digest: digest, size: Int(rows.number(row, 1))),
                    isNeeded: rows.number(row, 2) != 0)
            }
        }
    }
#endif
