import CloudModel
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
    }

    private let connection: Connection
    private let indexes: Indexes?
    private let names: NameWriter
    var rowsLeft: Int
    let now: Milliseconds

    /// - Parameter indexes: nil when the store has none.
    init(
        _ connection: Connection, rowsMax: Int, now: Milliseconds, indexes: Indexes?,
        names: NameWriter
    ) {
        self.connection = connection
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
            let victims = try keys(
                "SELECT key, record FROM versions WHERE key > ?1 AND key <= ?2 LIMIT ?3",
                SQLiteSnapshot.key(zone, 0),
                SQLiteSnapshot.key(zone, SQLiteSnapshot.positionMask), Int64(rowsLeft))
            for (key, record) in victims {
                try forget(RecordNumber(record), at: key, in: zone)
                try run("DELETE FROM links WHERE source = ?1", record)
                try letAssetsGo(of: record)
                try run("DELETE FROM short_guids WHERE record = ?1", record)
                try forgetHead(record)
                try run("DELETE FROM versions WHERE key = ?1", key)
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
        let expired = try connection.prepare(
            "SELECT id FROM asset_receipts WHERE expires < ?1 LIMIT ?2")
        expired.bind(now, at: 1)
        expired.bind(Int64(rowsLeft), at: 2)
        var ids: [[UInt8]] = []
        while try expired.step() { ids.append([UInt8](expired.bytes(0))) }
        expired.reset()
        for id in ids {
            let statement = try connection.prepare("DELETE FROM asset_receipts WHERE id = ?1")
            statement.bind(id, at: 1)
            try statement.run()
        }
        rowsLeft -= ids.count
    }

    /// Takes a record out of the indexes that hold it.
    private func forget(_ record: RecordNumber, at key: Int64, in zone: ZoneNumber) throws {
        guard let indexes else { return }
        let statement = try connection.prepare(
            "SELECT record_type, body FROM versions WHERE key = ?1 AND flags & 1 = 0")
        defer { statement.reset() }
        statement.bind(key, at: 1)
        guard try statement.step() else { return }
        let holding = indexes.catalog.ofType(statement.int64(0)).filter { $0.holds(record) }
        guard !holding.isEmpty else { return }
        let fields = try StoredFields(statement.bytes(1))
        for index in holding {
            try indexes.writer.replace(fields, with: nil, of: record, in: zone, index)
        }
    }

    private func nextUnpurgedZone() throws -> ZoneNumber? {
        let statement = try connection.prepare(
            "SELECT id FROM zones WHERE deleted_at IS NOT NULL AND is_purged = 0 LIMIT 1")
        defer { statement.reset() }
        return try statement.step() ? ZoneNumber(statement.int64(0)) : nil
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
            try run("DELETE FROM versions WHERE key = ?1", key)
            try run("DELETE FROM short_guids WHERE record = ?1", record)
            try forgetHead(record)
            try run(
                "UPDATE zones SET whole_after = max(whole_after, ?2) WHERE id = ?1",
                key >> SQLiteSnapshot.positionBits, key & SQLiteSnapshot.positionMask)
        }
        rowsLeft -= old.count
    }

    private func tombstone(at key: Int64) throws -> Int64? {
        let statement = try connection.prepare(
            "SELECT record FROM versions WHERE key = ?1 AND flags & 1 = 1")
        defer { statement.reset() }
        statement.bind(key, at: 1)
        return try statement.step() ? statement.int64(0) : nil
    }

    private mutating func forgetZones(olderThan moment: Milliseconds) throws {
        guard rowsLeft > 0 else { return }
        let old = try keys(
            """
            SELECT id, owner FROM zones WHERE deleted_at < ?1 AND is_purged = 1 LIMIT ?2
            """, moment, Int64(rowsLeft))
        for (zone, owner) in old {
            try run(
                """
                UPDATE owners SET whole_after = max(
                    whole_after, (SELECT changed FROM zones WHERE id = ?2)) WHERE id = ?1
                """, owner, zone)
            try run("DELETE FROM zones WHERE id = ?1", zone)
        }
        rowsLeft -= old.count
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
