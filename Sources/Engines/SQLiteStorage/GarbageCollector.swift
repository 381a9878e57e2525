import CloudModel
import IndexedQueries
import SQLite
import Storage

/// Removes what nobody can ask for any more, in bounded steps between other writes.
///
/// Records of deleted zones go at once, and so do removed roles; tombstones, of records and of zones,
/// after their retention; receipts of uploads when they have expired.
struct GarbageCollector {
    /// What must be taken out of indexes with the records.
    struct Indexes {
        let catalog: IndexCatalog
        let writer: IndexWriter
        /// Queues the work on what is left for later.
        let enqueue: () throws -> Void
    }

    let connection: Connection
    private let versions: VersionReader
    private let indexes: Indexes?
    private let names: NameWriter
    var rowsLeft: Int
    let now: Milliseconds

    /// - Parameter indexes: nil when the store has none.
    init(
        _ connection: Connection, versions: VersionReader, rowsMax: Int, now: Milliseconds,
        indexes: Indexes?, names: NameWriter
    ) {
        self.connection = connection
        self.versions = versions
        self.indexes = indexes
        self.names = names
        self.rowsLeft = rowsMax
        self.now = now
    }

    /// - Returns: whether rows are left that could have been removed.
    func run(olderThan moment: Milliseconds) throws -> Bool {
        var step = self
        try step.purgeDeletedZones()
        try step.collectShares(olderThan: moment)
        try step.collectTombstones(olderThan: moment)
        try step.forgetZones(olderThan: moment)
        try step.forgetReceipts()
        try step.forgetRoles()
        return step.rowsLeft <= 0
    }

    private mutating func purgeDeletedZones() throws {
        while rowsLeft > 0, let zone = try nextUnpurgedZone() {
            try purgeShares(of: zone)
            guard rowsLeft > 0 else { return }
            let victims = try records(of: zone, limit: rowsLeft)
            var bytes = 0
            for (key, record) in victims {
                bytes += try forget(RecordNumber(record), at: key, in: zone)
                try run("DELETE FROM links WHERE source = ?1", record)
                try letAssetsGo(of: record)
                try run("DELETE FROM short_guids WHERE record = ?1", record)
                try forgetHead(record)
                try removeVersion(at: key)
                guard bytes <= Self.lateBytesMax else {
                    rowsLeft = 0
                    return
                }
            }
            rowsLeft -= max(victims.count, 1)
            if victims.isEmpty {
                try run("DELETE FROM client_tokens WHERE zone = ?1", zone.value)
                try run(
                    """
                    UPDATE zones SET is_purged = 1, record_count = 0, body_bytes = 0, asset_bytes = 0
                    WHERE id = ?1
                    """, zone.value)
            }
        }
    }

    private func forgetHead(_ record: Int64) throws {
        try names.remove(RecordNumber(record))
        try run("DELETE FROM heads WHERE id = ?1", record)
    }

    private func letAssetsGo(of record: Int64) throws {
        try run(
            """
            UPDATE asset_files SET references_held = references_held - 1,
                unused_since = CASE WHEN references_held = 1 THEN ?2 END
            WHERE id IN (SELECT file FROM asset_uses WHERE record = ?1)
            """, record, now)
        try run("DELETE FROM asset_uses WHERE record = ?1", record)
    }

    private mutating func forgetReceipts() throws {
        guard rowsLeft > 0 else { return }
        let ids = try connection.prepare(
            "SELECT id FROM asset_receipts WHERE expires < ?1 LIMIT ?2"
        ).all(now, rowsLeft) { [UInt8]($0.bytes(0)) }
        for id in ids {
            try connection.prepare("DELETE FROM asset_receipts WHERE id = ?1").run(id)
        }
        rowsLeft -= ids.count
    }

    /// Bytes of bodies that one step keeps for later, until indexes have let go of them.
    private static let lateBytesMax = 1_048_576

    /// Takes a record out of the indexes that hold it.
    ///
    /// - Returns: how many bytes of it are kept until they have let go of it.
    private func forget(
        _ record: RecordNumber, at key: Int64, in zone: ZoneNumber
    ) throws -> Int {
        guard let indexes else { return 0 }
        do { return try forgetReadable(record, at: key, in: zone, indexes) } catch is DamagedVersion
        {
            for index in indexes.catalog.all {
                try indexes.writer.forget(record, in: zone, index.number)
            }
            try indexes.writer.late.forget(record, in: zone)
            return 0
        }
    }

    private func forgetReadable(
        _ record: RecordNumber, at key: Int64, in zone: ZoneNumber, _ indexes: Indexes
    ) throws -> Int {
        try versions.visit(at: key, of: record) { version in
            guard !version.flags.contains(.tombstone) else { return 0 }
            let holding = indexes.catalog.ofType(version.type).filter { $0.holds(record) }
            guard !holding.isEmpty else { return 0 }
            let late = indexes.writer.late
            let isLate = try holding.contains {
                try late.row(of: record, in: zone, $0.number) != nil
            }
            if isLate || version.body.count > IndexBounds.directWeightMax / 8 {
                let isLeft = try late.leave(
                    record, in: zone, to: holding, previous: [UInt8](version.body),
                    isAwaited: false)
                if isLeft { try indexes.enqueue() }
                return version.body.count
            }
            let fields = try version.storedFields()
            for index in holding {
                try indexes.writer.replace(fields, with: nil, of: record, in: zone, index)
            }
            return 0
        } ?? 0
    }

    /// The first versions of a zone: their keys, and whose they are.
    private func records(of zone: ZoneNumber, limit: Int) throws -> [(Int64, Int64)] {
        var found: [(Int64, Int64)] = []
        do {
            try versions.scan(
                after: SQLiteSnapshot.key(zone, 0),
                through: SQLiteSnapshot.key(zone, SQLiteSnapshot.positionMask), newestFirst: false
            ) { key, version in
                found.append((key, version.record.value))
                return found.count < limit
            }
        } catch let damaged as DamagedVersion where found.isEmpty {
            return [(SQLiteSnapshot.key(zone, damaged.position), try owner(of: damaged) ?? 0)]
        } catch is DamagedVersion {
            // NB: it comes first the next time.
            return found
        }
        return found
    }

    /// Whose a version was that is not what was written; looks through the names of its zone.
    private func owner(of damaged: DamagedVersion) throws -> Int64? {
        try keys(
            "SELECT id, id FROM heads WHERE zone = ?1 AND position = ?2", damaged.zone.value,
            damaged.position
        ).first?.0
    }

    private func removeVersion(at key: Int64) throws {
        try run("DELETE FROM version_rows WHERE key = ?1", key)
    }

    private func nextUnpurgedZone() throws -> ZoneNumber? {
        try connection.prepare(
            "SELECT id FROM zones WHERE deleted_at IS NOT NULL AND is_purged = 0 LIMIT 1"
        ).first { ZoneNumber($0.int64(0)) }
    }

    private mutating func collectTombstones(olderThan moment: Milliseconds) throws {
        guard rowsLeft > 0 else { return }
        let old = try keys(
            "SELECT key, deleted_at FROM tombstones WHERE deleted_at < ?1 LIMIT ?2",
            moment, Int64(rowsLeft))
        for (key, deletedAt) in old {
            try run("DELETE FROM tombstones WHERE deleted_at = ?1 AND key = ?2", deletedAt, key)
            // The record may have come back since, or its zone may be gone.
            guard let record = try tombstone(at: key) else { continue }
            try removeVersion(at: key)
            try run("DELETE FROM short_guids WHERE record = ?1", record)
            try forgetHead(record)
            try run(
                "UPDATE zones SET whole_after = max(whole_after, ?2) WHERE id = ?1",
                key >> SQLiteSnapshot.positionBits, key & SQLiteSnapshot.positionMask)
        }
        rowsLeft -= old.count
    }

    private func tombstone(at key: Int64) throws -> Int64? {
        do {
            return try versions.visit(at: key) {
                $0.flags.contains(.tombstone) ? $0.record.value : nil
            } ?? nil
        } catch let damaged as DamagedVersion {
            // Only deletions are noted to be collected.
            return try owner(of: damaged)
        }
    }

    private mutating func forgetZones(olderThan moment: Milliseconds) throws {
        guard rowsLeft > 0 else { return }
        let old = try keys(
            """
            SELECT id, owner FROM zones WHERE deleted_at < ?1 AND is_purged = 1 LIMIT ?2
            """, moment, Int64(rowsLeft))
        for (zone, owner) in old { try forgetZone(zone, of: owner) }
        rowsLeft -= old.count
    }

    /// Removes a zone.
    ///
    /// Clients whose tokens are older than its deletion must fetch its owner's zones again.
    func forgetZone(_ zone: Int64, of owner: Int64) throws {
        try run(
            """
            UPDATE owners SET whole_after = max(
                whole_after, (SELECT changed FROM zones WHERE id = ?2)) WHERE id = ?1
            """, owner, zone)
        try run("DELETE FROM zones WHERE id = ?1", zone)
    }

    /// Roles that the schema has no more, once nobody has them.
    private mutating func forgetRoles() throws {
        while rowsLeft > 0 {
            let removed = try keys("SELECT id, id FROM roles WHERE is_removed = 1 LIMIT 1")
            guard let role = removed.first?.0 else { return }
            try run(
                """
                DELETE FROM assigned_roles WHERE (user_record_name, role) IN (
                    SELECT user_record_name, role FROM assigned_roles WHERE role = ?1 LIMIT ?2)
                """, role, Int64(rowsLeft))
            let count = connection.changeCount
            rowsLeft -= max(count, 1)
            if count == 0 { try run("DELETE FROM roles WHERE id = ?1", role) }
        }
    }

    func keys(_ sql: String, _ values: Int64...) throws -> [(Int64, Int64)] {
        let statement = try connection.prepare(sql)
        defer { statement.reset() }
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        var found: [(Int64, Int64)] = []
        while try statement.step() { found.append((statement.int64(0), statement.int64(1))) }
        return found
    }

    func run(_ sql: String, _ values: Int64...) throws {
        let statement = try connection.prepare(sql)
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        try statement.run()
    }
}
