#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What a write does with assets.
    extension PostgreSQLTransaction {
        func addReceipt(
            _ id: [UInt8], _ receipt: StoredReceipt, of file: AssetPresence
        ) throws -> Bool {
            let digest = receipt.content.digest
            switch file {
            case .placed(let isThere):
                try requireStay(of: digest, isThere)
                job.statements.append(
                    Query(
                        """
                        INSERT INTO asset_files (store, digest, bytes, unused_since)
                        VALUES ($1, $2, $3, $4) ON CONFLICT (store, digest) DO NOTHING
                        """, .number(store), .bytes(digest.bytes),
                        .number(Int64(receipt.content.size)), .number(now)))
            case .unknown:
                guard try assets(.unknown(among: [digest])).isEmpty else { return false }
            }
            job.statements.append(
                Query(
                    """
                    INSERT INTO asset_receipts (store, id, digest, identity, expires)
                    VALUES ($1, $2, $3, $4, $5)
                    """, .number(store), .bytes(id), .bytes(digest.bytes),
                    .bytes(receipt.identity), .number(receipt.expires)))
            return true
        }

        /// Asks for the files that versions let go and hold from now on; nothing where there are none.
        func learnFiles(of versions: [NewVersion]) throws {
            files = KnownFiles()
            let holding = versions.filter { $0.files != nil }
            let records = holding.compactMap { version -> RecordNumber? in
                let former = record(version.name, in: version.zone.number)
                return former?.hasFiles == true ? former?.record : nil
            }
            let wanted = holding.reduce(into: Set<AssetDigest>()) {
                $0.formUnion($1.files ?? [])
            }
            guard !records.isEmpty || !wanted.isEmpty else { return }
            files = try KnownFiles(
                ask(KnownFiles.queries(store, of: records, and: wanted)))
        }

        /// Has a record hold files, each counted for the zone's owner, and no others.
        func replaceFiles(
            of record: RecordNumber, in zone: StoredZone, by wanted: Set<AssetDigest>
        ) throws {
            let held = files.uses[record] ?? []
            let (gone, come) = (held.subtracting(wanted), wanted.subtracting(held))
            let size: (AssetDigest) throws -> Int64 = { digest in
                guard let bytes = self.files.bytes[digest] else {
                    throw BrokenInvariant(
                        "a record holds only files that the store knows: \(digest)")
                }
                return bytes
            }
            let bytes =
                try come.reduce(0) { $0 + (try size($1)) }
                - gone.reduce(0) { $0 + (try size($1)) }
            let key: [Value] = [.number(store), .number(record.value)]
            if !gone.isEmpty {
                let digests = Value.byteStrings(gone.map(\.bytes))
                job.statements += [
                    Query(
                        """
                        DELETE FROM asset_uses
                        WHERE store = $1 AND record = $2 AND digest = ANY ($3)
                        """, key + [digests]),
                    Query(
                        """
                        UPDATE asset_files SET references_held = references_held - 1,
                            unused_since = CASE WHEN references_held = 1 THEN $3 END
                        WHERE store = $1 AND digest = ANY ($2)
                        """, .number(store), digests, .number(now)),
                ]
            }
            if !come.isEmpty {
                let digests = Value.byteStrings(come.map(\.bytes))
                job.statements += [
                    Query(
                        """
                        INSERT INTO asset_uses (store, record, digest)
                        SELECT $1, $2, digest FROM unnest($3::bytea[]) AS n (digest)
                        """, key + [digests]),
                    .requiring(
                        come.count,
                        """
                        UPDATE asset_files SET references_held = references_held + 1,
                            unused_since = NULL
                        WHERE store = $1 AND digest = ANY ($2)
                        """, .number(store), digests),
                ]
            }
            guard bytes != 0 else { return }
            var sum = ZoneSum()
            sum.assetBytes = bytes
            job.sums.add(sum, to: zone)
        }

        func endReceipts(of identity: [UInt8], limit: Int) throws -> [AssetDigest] {
            let rows = try ask(
                """
                DELETE FROM asset_receipts WHERE store = $1 AND id IN (
                    SELECT id FROM asset_receipts WHERE store = $1 AND identity = $2 LIMIT $3)
                RETURNING digest
                """, .number(store), .bytes(identity), .number(Int64(limit)))
            return try (0..<rows.count).map { try Self.digest(rows, $0, 0) }
        }
    }
#endif
