#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What a read sees of assets.
    extension PostgreSQLSnapshot {
        func assetReceipts(_ ids: [[UInt8]]) throws -> [StoredReceipt?] {
            guard !ids.isEmpty else { return [] }
            let rows = try ask(
                """
                SELECT f.digest, f.bytes, r.identity, r.expires
                FROM unnest($2::bytea[]) WITH ORDINALITY AS wanted (id, number)
                LEFT JOIN asset_receipts r ON r.store = $1 AND r.id = wanted.id
                LEFT JOIN asset_files f ON f.store = $1 AND f.digest = r.digest
                ORDER BY wanted.number
                """, .number(store), .byteStrings(ids))
            return try (0..<rows.count).map { row in
                guard !rows.isNull(row, 0) else { return nil }
                return StoredReceipt(
                    content: AssetContent(
                        digest: try Self.digest(rows, row, 0), size: Int(rows.number(row, 1))),
                    identity: Array(rows.bytes(row, 2)), expires: rows.number(row, 3))
            }
        }

        func assetBytes(of records: [RecordNumber]) throws -> [Int] {
            guard !records.isEmpty else { return [] }
            let rows = try ask(
                """
                SELECT coalesce((
                    SELECT sum(f.bytes) FROM asset_uses u
                    JOIN asset_files f ON f.store = $1 AND f.digest = u.digest
                    WHERE u.store = $1 AND u.record = wanted.record), 0)::bigint
                FROM unnest($2::bigint[]) WITH ORDINALITY AS wanted (record, number)
                ORDER BY wanted.number
                """, .number(store), .numbers(records.map(\.value)))
            return (0..<rows.count).map { Int(rows.number($0, 0)) }
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
