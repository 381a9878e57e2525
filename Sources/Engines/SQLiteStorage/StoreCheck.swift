import CloudModel
import SQLite

/// Reads a whole store and holds it to what is always true of one.
///
/// Works on a snapshot of its own, also while the store is in use.
package struct StoreCheck: Sendable {
    /// Something that no row may show.
    struct Rule {
        let broken: String
        /// Counts the rows that break it.
        let count: String
    }

    private let path: String
    private let lossesSince: Milliseconds
    private let nameHashBits: Int

    /// - Parameters:
    ///   - lossesSince: losses that a start has found are told when they are not older.
    ///   - nameHashBits: as in the options of the store.
    package init(path: String, lossesSince: Milliseconds = 0, nameHashBits: Int = 64) {
        self.path = path
        self.lossesSince = lossesSince
        self.nameHashBits = nameHashBits
    }

    /// What is wrong, a line each; empty when nothing is.
    ///
    /// - Throws: `SQLiteError` when the file is too broken to be read.
    package func problems() throws -> [String] {
        let connection = try Connection(path: path, mode: .readOnly)
        // Before the snapshot, which then has all that it tells of.
        let note = PositionNote.read(besideStore: path)
        // What it notes of each version goes into memory. The file itself is opened for reading.
        try connection.execute("PRAGMA query_only = OFF")
        return try connection.snapshot { connection in
            let damage = try connection.integrityCheck()
            // Rules would only repeat in other words what a damaged file shows.
            guard damage.isEmpty else { return damage }
            let versions = try VersionReader(connection, Damage())
            let census = try VersionCensus(connection, versions)
            try NameCheck.nameRecords(on: connection, hashBits: nameHashBits)
            let broken = try Self.rules.compactMap { rule -> String? in
                let statement = try connection.prepare(rule.count)
                defer { statement.reset() }
                let count = try statement.step() ? statement.int64(0) : 0
                return count == 0 ? nil : "\(rule.broken): \(count)"
            }
            return try census.problems(connection) + broken
                + NameCheck.problems(connection, hashBits: nameHashBits)
                + IndexCheck.problems(connection, versions)
                + Self.losses(connection, noted: note, since: lossesSince)
        }
    }

    private static let rules =
        records + sums + references + positions + shares + assets + clientTokens + trees + queue

    private static let records = [
        Rule(
            broken: "names whose record is not where they say",
            count: """
                SELECT count(*) FROM heads h LEFT JOIN every_version v
                ON v.key = (h.zone << 40 | h.position) WHERE v.record IS NOT h.id
                """),
        Rule(
            broken: "records that no name leads to",
            count: """
                SELECT count(*) FROM every_version v LEFT JOIN heads h ON h.id = v.record
                WHERE (h.zone << 40 | h.position) IS NOT v.key
                """),
        Rule(
            broken: "names in zones that do not exist",
            count: "SELECT count(*) FROM heads WHERE zone NOT IN (SELECT id FROM zones)"),
        Rule(
            broken: "records of types that do not exist",
            count: """
                SELECT count(*) FROM every_version WHERE flags & 1 = 0
                AND record_type NOT IN (SELECT id FROM record_types WHERE is_removed = 0)
                AND (key >> 40) IN (SELECT id FROM zones WHERE deleted_at IS NULL)
                """),
        Rule(
            broken: "fields, indexes or grants of types that do not exist",
            count: """
                SELECT count(*) FROM (
                    SELECT record_type FROM fields UNION ALL SELECT record_type FROM system_fields
                    UNION ALL SELECT record_type FROM permissions)
                WHERE record_type NOT IN (SELECT id FROM record_types WHERE is_removed = 0)
                """),
        Rule(
            broken: "users in roles that do not exist",
            count: "SELECT count(*) FROM assigned_roles WHERE role NOT IN (SELECT id FROM roles)"),
        Rule(
            broken: "deletions that are never forgotten",
            count: """
                SELECT count(*) FROM every_version WHERE flags & 1 = 1
                AND key NOT IN (SELECT key FROM tombstones)
                """),
        Rule(
            broken: "zones without an owner",
            count: "SELECT count(*) FROM zones WHERE owner NOT IN (SELECT id FROM owners)"),
    ]

    private static let sums = [
        Rule(
            broken: "zones that miscount their records",
            count: """
                SELECT count(*) FROM zones z WHERE deleted_at IS NULL AND
                (record_count, body_bytes) IS NOT (
                    SELECT count(*), coalesce(sum(bytes), 0) FROM every_version
                    WHERE key > z.id << 40 AND key < (z.id + 1) << 40 AND flags & 1 = 0)
                """),
        Rule(
            broken: "deleted zones that keep records",
            count: """
                SELECT count(*) FROM zones z WHERE is_purged = 1 AND EXISTS (
                    SELECT 1 FROM every_version WHERE key > z.id << 40 AND key < (z.id + 1) << 40)
                """),
        Rule(
            broken: "owners who miscount their bytes",
            count: """
                SELECT count(*) FROM owners o WHERE used_bytes <> (
                    SELECT coalesce(sum(body_bytes + asset_bytes), 0) FROM zones
                    WHERE owner = o.id AND deleted_at IS NULL)
                """),
    ]

    private static let references = [
        Rule(
            broken: "references from records that do not exist",
            count: """
                SELECT count(*) FROM links l LEFT JOIN heads h ON h.id = l.source
                LEFT JOIN every_version v ON v.key = (h.zone << 40 | h.position)
                WHERE v.flags IS NULL OR v.flags & 1 = 1
                """),
        Rule(
            broken: "references that must lead to a record and do not",
            count: """
                SELECT count(*) FROM links l JOIN heads s ON s.id = l.source
                JOIN zones z ON z.id = l.target_zone AND z.deleted_at IS NULL
                JOIN zones own ON own.id = s.zone AND own.deleted_at IS NULL
                -- In the public database a reference may outlive what it leads to.
                JOIN owners o ON o.id = own.owner AND o.record_name <> '_defaultOwner'
                LEFT JOIN heads h ON h.id = record_named(l.target_zone, l.target_name)
                LEFT JOIN every_version v ON v.key = (h.zone << 40 | h.position)
                WHERE l.kind IN (2, 3) AND (v.flags IS NULL OR v.flags & 1 = 1)
                """),
    ]

    private static let clientTokens = [
        Rule(
            broken: "data of clients in zones that do not exist or keep none",
            count: """
                SELECT count(*) FROM client_tokens WHERE zone NOT IN (
                    SELECT z.id FROM zones z JOIN owners o ON o.id = z.owner
                    WHERE z.is_purged = 0 AND z.name <> '_defaultZone'
                    AND o.record_name <> '_defaultOwner')
                """),
        Rule(
            broken: "data of clients that no device can have left",
            count: """
                SELECT count(*) FROM client_tokens WHERE typeof(data) <> 'blob'
                OR length(data) = 0 OR user_record_name = ''
                """),
    ]

    private static let assets = [
        Rule(
            broken: "zones that miscount their assets",
            count: """
                SELECT count(*) FROM zones z WHERE deleted_at IS NULL AND asset_bytes <> (
                    SELECT coalesce(sum(f.bytes), 0) FROM heads h
                    JOIN asset_uses u ON u.record = h.id JOIN asset_files f ON f.id = u.file
                    WHERE h.zone = z.id)
                """),
        Rule(
            broken: "assets that miscount who holds them",
            count: """
                SELECT count(*) FROM asset_files f WHERE references_held <> (
                    SELECT count(*) FROM asset_uses WHERE file = f.id)
                OR (references_held = 0) <> (unused_since IS NOT NULL)
                """),
        Rule(
            broken: "assets held by records that do not exist or do not show them",
            count: """
                SELECT count(*) FROM asset_uses u LEFT JOIN heads h ON h.id = u.record
                LEFT JOIN every_version v ON v.key = (h.zone << 40 | h.position)
                WHERE v.flags IS NULL OR v.flags & 9 <> 8
                """),
        Rule(
            broken: "records that show assets and hold none",
            count: """
                SELECT count(*) FROM every_version v WHERE flags & 8 = 8
                AND NOT EXISTS (SELECT 1 FROM asset_uses WHERE record = v.record)
                """),
        Rule(
            broken: "assets held or received that no file stands for",
            count: """
                SELECT count(*) FROM (SELECT file FROM asset_uses UNION ALL
                    SELECT file FROM asset_receipts)
                WHERE file NOT IN (SELECT id FROM asset_files)
                """),
    ]

    private static let positions = [
        Rule(
            broken: "changes numbered beyond the last",
            count: """
                SELECT count(*) FROM (
                    SELECT position AS used FROM heads
                    UNION ALL SELECT max(created, changed) FROM zones
                    UNION ALL SELECT position FROM memberships
                    UNION ALL SELECT max(created, coalesce(ended, 0)) FROM shares
                    UNION ALL SELECT max(granted, changed) FROM grants)
                WHERE used > (SELECT last_position FROM progress)
                """),
        Rule(
            broken: "changes that share a number",
            count: """
                SELECT count(*) FROM (
                    SELECT 1 FROM heads GROUP BY position HAVING count(*) > 1)
                """),
        Rule(
            broken: "zones that changed later than they say",
            count: """
                SELECT count(*) FROM zones z WHERE deleted_at IS NULL AND changed > 0
                AND changed < (SELECT max(position) FROM heads WHERE zone = z.id)
                """),
    ]
}
