import CloudModel
import SQLite
import Storage

// What those are shown who follow the store.
extension SQLiteSnapshot {
    func position(of follower: FollowerName) throws -> Position? {
        let row = try connection.prepare("SELECT position FROM followers WHERE name = ?1")
        defer { row.reset() }
        row.bind(follower.text, at: 1)
        guard try row.step() else { return nil }
        guard row.int64(0) != Following.letGo else { throw FollowerFellBehind(follower) }
        return row.int64(0)
    }

    func changes(
        after position: Position, limit: Int, _ visit: (FollowedChange) throws -> Bool
    ) throws -> Position? {
        // A version that is not there any more was kept by the change after it, if at all.
        let rows = try connection.prepare(
            """
            SELECT c.position, c.kind, c.zone, c.record, c.person, h.name,
                v.record_type, v.flags, v.body,
                c.former_position, c.former_type, c.former_flags, c.former_body,
                n.former_type, n.former_flags, n.former_body,
                c.record_type, c.was_alive, c.author, c.device
            FROM changes c
            LEFT JOIN heads h ON h.id = c.record
            LEFT JOIN versions v ON v.key = (c.zone << \(Self.positionBits) | c.position)
            LEFT JOIN changes n ON v.key IS NULL AND n.former_position = c.position
            WHERE c.position > ?1 ORDER BY c.position LIMIT ?2
            """)
        defer { rows.reset() }
        rows.bind(position, at: 1)
        rows.bind(Int64(limit), at: 2)
        var last: Position?
        while try rows.step() {
            last = rows.int64(0)
            guard try visit(Self.change(rows)) else { break }
        }
        return last
    }

    private static func change(_ row: Statement) throws -> FollowedChange {
        guard let kind = ChangeKind(rawValue: row.int64(1)) else {
            throw InvalidRow(table: "changes")
        }
        let position = row.int64(0)
        let record = row.isNull(3) ? nil : RecordNumber(row.int64(3))
        let version =
            version(row, of: record, at: position, from: 6)
            ?? version(row, of: record, at: position, from: 13)
        return FollowedChange(
            position: position, kind: kind, zone: ZoneNumber(row.int64(2)), record: record,
            name: row.isNull(5) ? nil : RecordName(row.string(5)),
            person: row.isNull(4) ? nil : UserRecordName(row.string(4)),
            type: row.isNull(16) ? nil : row.int64(16), wasAlive: row.int64(17) != 0,
            author: author(row), version: version,
            former: row.isNull(9)
                ? nil : self.version(row, of: record, at: row.int64(9), from: 10))
    }

    private static func author(_ row: Statement) -> ChangeAuthor? {
        guard !row.isNull(18), let user = UserRecordName(row.string(18)) else { return nil }
        return ChangeAuthor(user: user, device: row.isNull(19) ? nil : row.string(19))
    }

    /// The version of which type, flags and body stand in three columns; nil for none.
    private static func version(
        _ row: Statement, of record: RecordNumber?, at position: Position, from column: Int32
    ) -> StoredVersion? {
        guard let record, !row.isNull(column) else { return nil }
        return StoredVersion(
            record: record, position: position, type: row.int64(column),
            flags: VersionFlags(rawValue: row.int64(column + 1)), body: row.bytes(column + 2))
    }
}

// What a write has itself followed and noted is there for it, too.
extension SQLiteTransaction {
    func lastPosition() -> Position { reachedPosition }

    func position(of follower: FollowerName) throws -> Position? {
        try snapshot.position(of: follower)
    }

    func changes(
        after position: Position, limit: Int, _ visit: (FollowedChange) throws -> Bool
    ) throws -> Position? {
        try snapshot.changes(after: position, limit: limit, visit)
    }
}
