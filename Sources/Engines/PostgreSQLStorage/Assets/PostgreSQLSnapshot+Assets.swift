#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // What a read sees of assets.
    extension PostgreSQLSnapshot {
        func assetReceipt(_ id: [UInt8]) throws -> StoredReceipt? {
            let rows = try ask(
                """
                SELECT f.digest, f.bytes, r.identity, r.expires
                FROM asset_receipts r JOIN asset_files f ON f.store = $1 AND f.digest = r.digest
                WHERE r.store = $1 AND r.id = $2
                """, .number(store), .bytes(id))
            guard rows.count == 1 else { return nil }
            return StoredReceipt(
                content: AssetContent(
                    digest: try Self.digest(rows, 0, 0), size: Int(rows.number(0, 1))),
                identity: Array(rows.bytes(0, 2)), expires: rows.number(0, 3))
        }

        func assetBytes(of record: RecordNumber) throws -> Int {
            let rows = try ask(
                """
                SELECT coalesce(sum(f.bytes), 0)::bigint
                FROM asset_uses u JOIN asset_files f ON f.store = $1 AND f.digest = u.digest
                WHERE u.store = $1 AND u.record = $2
                """, .number(store), .number(record.value))
            return Int(rows.number(0, 0))
        }

        func assets(_ selection: AssetSelection) throws -> [AssetDigest] {
            switch selection {
            case .unknown(let digests):
                guard !digests.isEmpty else { return [] }
                let rows = try ask(
                    "SELECT digest FROM asset_files WHERE store = $1 AND digest = ANY ($2)",
                    .number(store), .byteStrings(digests.map(\.bytes)))
                let known = try Set((0..<rows.count).map { try Self.digest(rows, $0, 0) })
                return digests.filter { !known.contains($0) }
            case .unused(let moment, let limit):
                let rows = try ask(
                    """
                    SELECT f.digest FROM asset_files f
                    WHERE f.store = $1 AND f.unused_since < $2 AND NOT EXISTS (
                        SELECT 1 FROM asset_receipts r WHERE r.store = $1 AND r.digest = f.digest)
                    LIMIT $3
                    """, .number(store), .number(moment), .number(Int64(limit)))
                return try (0..<rows.count).map { try Self.digest(rows, $0, 0) }
            }
        }

        static func digest(_ rows: Rows, _ row: Int, _ column: Int) throws -> AssetDigest {
            guard let digest = AssetDigest(rows.bytes(row, column)) else {
                throw InvalidRow(table: "asset_files")
            }
            return digest
        }
    }
#endif
