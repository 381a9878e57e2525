#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// What writes have changed that the server has not been told yet, be it one write or a whole group.
    ///
    /// What lies under keys is kept as it is in the end: a row that changes twice is written once.
    struct StoreChanges {
        /// A version that was saved, and when its record was deleted.
        struct Saved {
            let current: CurrentRecord
            let deletedAt: Milliseconds?
        }

        /// Statements that go first, in their order; what relies on saved versions waits for these (`flush`).
        var statements: [Query] = []
        private(set) var saved: [RecordKey: Saved] = [:]
        /// Under which key a version at a position was saved; another may stand there by now.
        private(set) var keys: [Position: RecordKey] = [:]
        /// What records link to from now on.
        var links: [RecordNumber: [Link]] = [:]
        var sums = ZoneSums()
        /// The last change in the tree of each share.
        var shares: [ShareNumber: Position] = [:]
        /// Owners and zones as they are under their names by now; nil for none.
        var ownersByName: [UserRecordName: StoredOwner?] = [:]
        var zonesByName: [ZoneNameKey: StoredZone?] = [:]
        /// What the writes have made of the schema.
        var schema: StoreFacts.KnownSchema?
        /// Who follows from now on.
        var following: StoreFacts.KnownFollowing?
        /// What followers are told of it.
        var noted: [NotedChange] = []
        /// Whether followers are let go that have more than so many changes before them; nil for no.
        var letsGoBehind: Int?
        /// What becomes of notices and destinations, in its order.
        var outbox = OutboxChanges()
        /// What they have made of the indexes.
        var indexes: StoreFacts.KnownIndexes?
        /// Rows of indexes that come, and with false those that go.
        var entries: [EntryRow: Bool] = [:]
        /// Zones in which something is shared as a tree from now on, or is to be worked on for a share.
        var trees: Set<ZoneNumber> = []
        /// What has moved beside zones and owners.
        var moved: Set<StorePart> = []

        /// Whether there is something to tell the server.
        var isEmpty: Bool {
            statements.isEmpty && saved.isEmpty && links.isEmpty && sums.isEmpty && shares.isEmpty
                && entries.isEmpty && noted.isEmpty && outbox.isEmpty
        }

        mutating func save(_ version: Saved, _ key: RecordKey) {
            saved[key] = version
            keys[version.current.position] = key
        }

        /// The parts of the store that have moved.
        var movedParts: Set<StorePart> {
            var parts = moved
            for zone in sums.zones.keys { parts.insert(.zone(zone)) }
            for owner in sums.owners.keys { parts.insert(.owner(owner)) }
            return parts
        }

        mutating func add(_ other: StoreChanges) {
            statements += other.statements
            saved.merge(other.saved) { $1 }
            keys.merge(other.keys) { $1 }
            links.merge(other.links) { $1 }
            sums.add(other.sums)
            shares.merge(other.shares) { max($0, $1) }
            ownersByName.merge(other.ownersByName) { $1 }
            zonesByName.merge(other.zonesByName) { $1 }
            schema = other.schema ?? schema
            following = other.following ?? following
            noted += other.noted
            outbox.add(other.outbox)
            indexes = other.indexes ?? indexes
            entries.merge(other.entries) { $1 }
            trees.formUnion(other.trees)
            moved.formUnion(other.moved)
        }
    }

    struct ZoneNameKey: Hashable {
        let owner: OwnerNumber
        let name: ZoneName
    }

    /// The statements that tell the server of changes.
    extension StoreChanges {
        private static let saveText = """
            INSERT INTO records AS r
                (store, zone, name, record, position, type, flags, deleted_at, checksum, body)
            SELECT $1, zone, name, record, position, type, flags, deleted_at, checksum, body
            FROM unnest(
                $2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                $8::bigint[], $9::bigint[], $10::bytea[])
                AS n (zone, name, record, position, type, flags, deleted_at, checksum, body)
            ON CONFLICT (store, zone, name) DO UPDATE SET
                position = excluded.position, type = excluded.type, flags = excluded.flags,
                deleted_at = excluded.deleted_at, checksum = excluded.checksum, body = excluded.body
            WHERE r.record = excluded.record
            """

        /// - Parameters:
        ///   - recent: the group's.
        ///   - countings: what it knows of owners.
        ///   - page: where the row that counts the store's changes was (`ProgressRow`).
        func queries(
            _ recent: RecentSums, _ countings: [OwnerNumber: RecentSums.Counting], page: Int64
        ) -> [Query] {
            let store = recent.store
            var queries = statements
            if !saved.isEmpty { queries.append(saveQuery(store)) }
            if !links.isEmpty { queries += linkQueries(store) }
            queries += entryQueries(store)
            if !sums.isEmpty { queries += recent.queries(sums, countings) }
            queries += shareQueries(store)
            if !noted.isEmpty { queries.append(NotedChange.query(noted, store, page: page)) }
            if let letsGoBehind {
                queries += ChangeLog.letGo(store, behind: letsGoBehind, page: page)
            }
            return queries + outbox.queries(store)
        }

        private func saveQuery(_ store: Int64) -> Query {
            // In the order of the feed, so that neighbours there become neighbours on the disk.
            let rows = saved.sorted { $0.value.current.position < $1.value.current.position }
            let current = rows.map(\.value.current)
            let sums = rows.map { key, saved in
                saved.current.body.withUnsafeBytes {
                    VersionColumns.checksum(
                        key.zone, saved.current.record, saved.current.position,
                        saved.current.type, saved.current.flags, $0)
                }
            }
            return .requiring(
                rows.count, Self.saveText, .number(store), .numbers(rows.map(\.key.zone.value)),
                .texts(rows.map(\.key.name.text)), .numbers(current.map(\.record.value)),
                .numbers(current.map(\.position)), .numbers(current.map(\.type)),
                .numbers(current.map(\.flags.rawValue)), .numbers(rows.map(\.value.deletedAt)),
                .numbers(sums), .byteStrings(current.map(\.body)))
        }

        private func linkQueries(_ store: Int64) -> [Query] {
            let rows = links.flatMap { source, links in Set(links).map { (source.value, $0) } }
            let sources = links.keys.map(\.value)
            let remove = Query(
                "DELETE FROM links WHERE store = $1 AND source = ANY ($2)", .number(store),
                .numbers(sources))
            guard !rows.isEmpty else { return [remove] }
            return [
                remove,
                Query(
                    """
                    INSERT INTO links (store, target_zone, target_name, kind, source)
                    SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[])
                    """, .number(store), .numbers(rows.map(\.1.targetZone.value)),
                    .texts(rows.map(\.1.target.text)), .numbers(rows.map(\.1.kind.rawValue)),
                    .numbers(rows.map(\.0))),
            ]
        }

        /// Shares whose trees have changed, and those of whole zones that have.
        private static let changedShares = """
            WITH n AS (
                SELECT * FROM unnest($2::bigint[], $3::bigint[]) AS t (share, changed)
                UNION ALL
                SELECT s.share, z.changed
                FROM unnest($4::bigint[], $5::bigint[]) AS z (zone, changed)
                    JOIN shares s ON s.store = $1 AND s.zone = z.zone AND s.ended IS NULL
                        AND s.root IS NULL)
            """

        /// Tells those who have shares of what has changed in them.
        private func shareQueries(_ store: Int64) -> [Query] {
            let zones = sums.zones.mapValues(\.sum.changed).filter { $0.value > 0 }
            guard !zones.isEmpty || !shares.isEmpty else { return [] }
            let values: [Value] = [
                .number(store), .numbers(shares.keys.map(\.value)),
                .numbers(Array(shares.values)), .numbers(zones.keys.map(\.value)),
                .numbers(Array(zones.values)),
            ]
            return [
                Query(
                    """
                    \(Self.changedShares),
                        c AS (SELECT share, max(changed) AS changed FROM n GROUP BY share)
                    UPDATE grants g SET changed = greatest(g.changed, c.changed)
                    FROM c WHERE g.store = $1 AND g.share = c.share AND g.revoked IS NULL
                    """, values),
                Query(
                    """
                    \(Self.changedShares),
                        c AS (
                            SELECT g.viewer, g.zone, max(n.changed) AS changed
                            FROM n JOIN grants g ON g.store = $1 AND g.share = n.share
                                AND g.revoked IS NULL
                            GROUP BY g.viewer, g.zone)
                    UPDATE views v SET changed = greatest(v.changed, c.changed)
                    FROM c WHERE v.store = $1 AND v.viewer = c.viewer AND v.zone = c.zone
                    """, values),
            ]
        }
    }
#endif
