#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// The leases of files whose bytes a process removes.
    ///
    /// A lease ends when its time is over, by the server's clock, whether its holder lives or not. It stays for as long
    /// again: an upload whose file was put in place before that time looks whether the file is still there.
    enum FileRemovals {
        private static let milliseconds = AssetRemoval.secondsMax * 1_000
        /// What the names of images begin with, and what comes behind all of them.
        private static let (images, behindImages) = (Array("image ".utf8), Array("image!".utf8))
        /// The longest that a copy keeps files from being removed.
        private static let imageMilliseconds: Int64 = 86_400_000

        static func name(_ digest: AssetDigest) -> [UInt8] { Array("file ".utf8) + digest.bytes }

        /// Takes the leases of files, but for those that another process removes; gives their names.
        static func begin(
            _ store: Int64, _ files: [AssetDigest], by holder: [UInt8]
        ) -> [Query] {
            [
                Query(
                    """
                    DELETE FROM leases
                    WHERE store = $1 AND ends_at <= \(LivingProcesses.now) - \(milliseconds)
                    """, .number(store)),
                Query(
                    """
                    INSERT INTO leases AS l (store, name, number, holder, ends_at)
                    SELECT DISTINCT $1::bigint, n.name, 1, $3::bytea,
                        \(LivingProcesses.now) + \(milliseconds)
                    FROM unnest($2::bytea[]) AS n (name)
                    ON CONFLICT (store, name) DO UPDATE
                        SET holder = excluded.holder, ends_at = excluded.ends_at
                    WHERE l.holder = excluded.holder OR l.ends_at <= \(LivingProcesses.now)
                    RETURNING name
                    """, .number(store), .byteStrings(files.map(name)), .bytes(holder)),
            ]
        }

        static func end(_ store: Int64, _ files: [AssetDigest], by holder: [UInt8]) -> Query {
            Query(
                """
                UPDATE leases SET ends_at = \(LivingProcesses.now)
                WHERE store = $1 AND name = ANY ($2) AND holder = $3
                    AND ends_at > \(LivingProcesses.now)
                """, .number(store), .byteStrings(files.map(name)), .bytes(holder))
        }

        /// Whether another process removes a file now, or did so not long ago: a row says which.
        static func other(
            _ store: Int64, _ file: AssetDigest, than holder: [UInt8]
        ) -> Query {
            Query(
                """
                SELECT (ends_at > \(LivingProcesses.now))::int::bigint FROM leases
                WHERE store = $1 AND name = $2 AND holder <> $3
                """, .number(store), .bytes(name(file)), .bytes(holder))
        }

        /// Gives a row while a process that lives copies the store.
        static func copies(_ store: Int64) -> Query {
            Query(
                """
                SELECT 1 FROM leases l WHERE store = $1 AND name >= $2 AND name < $3
                    AND ends_at > \(LivingProcesses.now) AND \(LivingProcesses.lives("l.holder"))
                LIMIT 1
                """, .number(store), .bytes(images), .bytes(behindImages))
        }

        /// Notes that a store is copied, behind the group that goes on: what an image is to have stays from then on.
        static func beginCopy(_ store: Int64, _ identity: [UInt8], by holder: [UInt8]) -> Query {
            Query(
                """
                INSERT INTO leases (store, name, number, holder, ends_at)
                SELECT p.store, $2, 1, $3, \(LivingProcesses.now) + \(imageMilliseconds)
                FROM (SELECT store FROM progress WHERE store = $1 FOR UPDATE) p
                """, .number(store), .bytes(images + identity), .bytes(holder))
        }

        static func endCopy(_ store: Int64, _ identity: [UInt8]) -> Query {
            Query(
                "DELETE FROM leases WHERE store = $1 AND name = $2", .number(store),
                .bytes(images + identity))
        }
    }

    extension PostgreSQLTransaction {
        func remove(_ removal: AssetRemoval) throws -> [AssetDigest] {
            switch removal {
            case .begin(let digests, let moment): return try begin(digests, unusedSince: moment)
            case .end(let digests):
                if group.isShared {
                    job.statements.append(FileRemovals.end(store, digests, by: group.process))
                }
                return []
            case .receipts(let identity, let limit):
                return try endReceipts(of: identity, limit: limit)
            }
        }

        private func begin(
            _ digests: [AssetDigest], unusedSince moment: Milliseconds
        ) throws -> [AssetDigest] {
            if group.isShared, try ask([FileRemovals.copies(store)])[0].count > 0 {
                throw StorageFailure.unavailable(.busy)
            }
            job.statements.append(
                Query(
                    """
                    DELETE FROM asset_files f
                    WHERE f.store = $1 AND f.digest = ANY ($2) AND f.unused_since < $3
                        AND NOT EXISTS (
                            SELECT 1 FROM asset_receipts r
                            WHERE r.store = $1 AND r.digest = f.digest)
                    """, .number(store), .byteStrings(digests.map(\.bytes)), .number(moment)))
            let unknown = try assets(.unknown(among: digests))
            guard group.isShared, !unknown.isEmpty else { return unknown }
            let rows = try ask(FileRemovals.begin(store, unknown, by: group.process))[1]
            let taken = Set((0..<rows.count).map { Array(rows.bytes($0, 0)) })
            return unknown.filter { taken.contains(FileRemovals.name($0)) }
        }

        /// Fails for a file that another process removes, or has removed since it was put in place.
        func requireStay(of file: AssetDigest, _ isThere: () throws -> Bool) throws {
            guard group.isShared else { return }
            let rows = try ask([FileRemovals.other(store, file, than: group.process)])[0]
            guard rows.count == 1 else { return }
            guard try rows.number(0, 0) == 0 && isThere() else {
                throw StorageFailure.unavailable(.busy)
            }
        }
    }
#endif
