#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// The files that some records hold, and those that they are to hold.
    struct KnownFiles {
        /// How many bytes each has; of those that the store knows.
        private(set) var bytes: [AssetDigest: Int64] = [:]
        private(set) var uses: [RecordNumber: Set<AssetDigest>] = [:]

        init() {}

        static func queries(
            _ store: Int64, of records: [RecordNumber], and files: Set<AssetDigest>
        ) -> [Query] {
            [
                Query(
                    """
                    SELECT u.record, f.digest, f.bytes
                    FROM asset_uses u JOIN asset_files f ON f.store = $1 AND f.digest = u.digest
                    WHERE u.store = $1 AND u.record = ANY ($2)
                    """, .number(store), .numbers(records.map(\.value))),
                Query(
                    """
                    SELECT f.digest, f.bytes FROM asset_files f
                    WHERE f.store = $1 AND f.digest = ANY ($2)
                    """, .number(store), .byteStrings(files.map(\.bytes))),
            ]
        }

        init(_ rows: [Rows]) throws {
            guard rows.count == 2 else { throw InvalidRow(table: "asset_uses") }
            for row in 0..<rows[0].count {
                let digest = try PostgreSQLSnapshot.digest(rows[0], row, 1)
                bytes[digest] = rows[0].number(row, 2)
                uses[RecordNumber(rows[0].number(row, 0)), default: []].insert(digest)
            }
            for row in 0..<rows[1].count {
                bytes[try PostgreSQLSnapshot.digest(rows[1], row, 0)] = rows[1].number(row, 1)
            }
        }
    }
#endif
