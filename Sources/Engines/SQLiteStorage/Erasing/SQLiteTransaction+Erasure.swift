import CloudModel
import SQLite
import Storage
import StoredRows

// What is forgotten of somebody who is erased.
extension SQLiteTransaction {
    func endReceipts(of identity: [UInt8], limit: Int) throws -> [AssetDigest] {
        let rows = try connection.prepare(
            """
            SELECT r.id, f.digest FROM asset_receipts r JOIN asset_files f ON f.id = r.file
            WHERE r.identity = ?1 LIMIT ?2
            """)
        defer { rows.reset() }
        rows.bind(identity, limit)
        var ended: [[UInt8]] = []
        var files: [AssetDigest] = []
        while try rows.step() {
            guard let digest = AssetDigest(rows.bytes(1)) else {
                throw InvalidRow(table: "asset_files")
            }
            ended.append([UInt8](rows.bytes(0)))
            files.append(digest)
        }
        rows.reset()
        let delete = try connection.prepare("DELETE FROM asset_receipts WHERE id = ?1")
        for receipt in ended {
            try delete.run(receipt)
        }
        return files
    }

    /// Removes what a person and their devices have left behind.
    func collectLeft(by person: UserRecordName) throws {
        for table in ["client_tokens", "subscriptions", "access_requests"] {
            try connection.prepare(
                "DELETE FROM \(table) WHERE user_record_name = ?1"
            ).run(person.text)
        }
        _ = try removeDestinations(.user(person))
        try moveSubscriptions()
    }

    /// Removes an owner's deleted zones.
    func collectZones(of owner: UserRecordName, rowsMax: Int) throws -> Bool {
        // The records are gone, and with them what indexes say of them.
        var collector = GarbageCollector(
            connection, versions: versions, rowsMax: rowsMax, now: now,
            indexes: nil, names: try nameWriter())
        return try collector.forgetZones(ofOwnerNamed: owner)
    }

    /// Removes what is kept for followers of changes up to a position.
    func collectPrevious(through position: Position, rowsMax: Int) throws -> Bool {
        try connection.prepare(
            """
            UPDATE changes SET previous_position = NULL, previous_type = NULL, previous_flags = NULL,
                previous_body = NULL
            WHERE position IN (
                SELECT position FROM changes WHERE previous_position IS NOT NULL AND position <= ?1
                LIMIT ?2)
            """
        ).run(position, rowsMax)
        return connection.changeCount == rowsMax
    }
}

extension GarbageCollector {
    /// Removes deleted zones whose records are gone, as if the time were over for which deletions are told of.
    ///
    /// - Returns: whether there are more.
    mutating func forgetZones(ofOwnerNamed name: UserRecordName) throws -> Bool {
        let find = try connection.prepare(
            """
            SELECT z.id, z.owner FROM zones z JOIN owners o ON o.id = z.owner
            WHERE o.record_name = ?1 AND z.deleted_at IS NOT NULL AND z.is_purged = 1 LIMIT ?2
            """)
        defer { find.reset() }
        find.bind(name.text, rowsLeft)
        var zones: [(Int64, Int64)] = []
        while try find.step() { zones.append((find.int64(0), find.int64(1))) }
        find.reset()
        for (zone, owner) in zones {
            try forgetViews(of: zone)
            guard rowsLeft > 0 else { return true }
            try forgetZone(zone, of: owner)
            rowsLeft -= 1
        }
        return rowsLeft <= 0
    }
}
