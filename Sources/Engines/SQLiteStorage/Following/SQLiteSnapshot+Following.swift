import CloudModel
import SQLite
import Storage
import StoredRows

// What those are shown who follow the store.
extension SQLiteSnapshot {
    func position(of follower: FollowerName) throws -> Position? {
        try connection.prepare("SELECT position FROM followers WHERE name = ?1").first(
            follower.text
        ) { row in
            guard row.int64(0) != Following.letGo else { throw FollowerFellBehind(follower) }
            return row.int64(0)
        }
    }

    func changes(
        after position: Position, limit: Int, _ visit: (FollowedChange) throws -> Bool
    ) throws -> Position? {
        // A version that is not there any more was kept by the change after it, if at all.
        let rows = try connection.prepare(
            """
            SELECT c.position, c.kind, c.zone, c.record, c.person, h.name,
                c.record_type, c.was_alive, c.author, c.device,
                c.previous_position, c.previous_type, c.previous_flags, c.previous_body,
                n.previous_type, n.previous_flags, n.previous_body, c.trace
            FROM changes c
            LEFT JOIN heads h ON h.id = c.record
            LEFT JOIN changes n ON n.previous_position = c.position
            WHERE c.position > ?1 ORDER BY c.position LIMIT ?2
            """)
        defer { rows.reset() }
        rows.bind(position, limit)
        var last: Position?
        while try rows.step() {
            last = rows.int64(0)
            guard try tell(rows, visit) else { break }
        }
        return last
    }

    /// Hands the change of a row to a closure, with its version if it is still there.
    private func tell(
        _ row: Statement, _ visit: (FollowedChange) throws -> Bool
    ) throws -> Bool {
        let (position, zone) = (row.int64(0), ZoneNumber(row.int64(2)))
        guard !row.isNull(3) else { return try visit(Self.change(row, nil)) }
        let record = RecordNumber(row.int64(3))
        do {
            let goesOn = try versions.visit(at: Self.key(zone, position), of: record) {
                try visit(Self.change(row, $0))
            }
            if let goesOn { return goesOn }
        } catch let damaged as DamagedVersion where damaged.position == position {
            // NB: who follows hears of the change without what nobody can read.
            return try visit(Self.change(row, nil))
        }
        return try visit(
            Self.change(row, Self.version(row, of: record, at: position, from: 14)))
    }

    private static func change(
        _ row: Statement, _ version: StoredVersion?
    ) throws -> FollowedChange {
        guard let kind = ChangeKind(rawValue: row.int64(1)) else {
            throw InvalidRow(table: "changes")
        }
        let record = row.isNull(3) ? nil : RecordNumber(row.int64(3))
        return FollowedChange(
            position: row.int64(0), kind: kind, zone: ZoneNumber(row.int64(2)), record: record,
            name: row.isNull(5) ? nil : RecordName(row.string(5)),
            person: row.isNull(4) ? nil : UserRecordName(row.string(4)),
            type: row.isNull(6) ? nil : row.int64(6), wasAlive: row.int64(7) != 0,
            author: author(row), version: version,
            previous: row.isNull(10)
                ? nil : self.version(row, of: record, at: row.int64(10), from: 11))
    }

    private static func author(_ row: Statement) -> ChangeAuthor? {
        guard !row.isNull(8), let user = UserRecordName(row.string(8)) else { return nil }
        return ChangeAuthor(
            user: user, device: row.isNull(9) ? nil : row.string(9),
            trace: row.isNull(17) ? nil : row.string(17))
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
