import CloudModel
import SQLite
import Storage

/// What a check knows of all versions: a temporary table of them.
///
/// Rules in SQL ask `every_version`: key, record, record_type, flags, and bytes, the length of the text.
struct VersionCensus {
    /// The versions that are not what was written.
    private(set) var damaged: [DamagedVersion] = []
    /// How many are not JSON.
    private(set) var unreadable = 0

    /// How many damaged records are named one by one.
    private static let namedMax = 20

    /// What is wrong with versions as such, a line each.
    func problems(_ connection: Connection) throws -> [String] {
        var lines: [String] = []
        if !damaged.isEmpty {
            lines.append("records that are not what was written: \(damaged.count)")
        }
        for version in damaged.prefix(Self.namedMax) {
            lines.append(try words(for: version, connection))
        }
        if unreadable > 0 { lines.append("records that are not JSON: \(unreadable)") }
        return lines
    }

    /// Which record a damaged version is of, and how it goes.
    private func words(
        for version: DamagedVersion, _ connection: Connection
    ) throws -> String {
        let row = try connection.prepare(
            """
            SELECT h.name, z.name, o.record_name FROM heads h
            JOIN zones z ON z.id = h.zone JOIN owners o ON o.id = z.owner
            WHERE h.zone = ?1 AND h.position = ?2
            """)
        defer { row.reset() }
        row.bind(version.zone.value, version.position)
        guard try row.step() else { return version.description }
        return "record '\(row.string(0))' of zone '\(row.string(1))' of \(row.string(2)) "
            + "is not what was written: `check --remove-damaged` deletes it"
    }

    /// Reads every version of the connection's snapshot.
    init(_ connection: Connection, _ versions: VersionReader) throws {
        try connection.execute(
            """
            CREATE TEMP TABLE every_version (
                key INTEGER PRIMARY KEY, record INTEGER, record_type INTEGER, flags INTEGER,
                bytes INTEGER)
            """)
        let insert = try connection.prepare(
            "INSERT INTO every_version VALUES (?1, ?2, ?3, ?4, ?5)")
        var last: Int64 = 0
        while try !scan(versions, after: &last, into: insert) {}
    }

    /// - Returns: whether it has come to the end; else the next scan goes on behind a damaged version.
    private mutating func scan(
        _ versions: VersionReader, after last: inout Int64, into insert: Statement
    ) throws -> Bool {
        var (reached, notJSON) = (last, 0)
        do {
            try versions.scan(after: last, through: .max, newestFirst: false) { key, version in
                reached = key
                if !StoredBody.isJSON(version.body) { notJSON += 1 }
                try insert.run(
                    key, version.record.value, version.type, version.flags.rawValue,
                    version.body.count)
                return true
            }
            unreadable += notJSON
            return true
        } catch let version as DamagedVersion {
            unreadable += notJSON
            damaged.append(version)
            last = max(reached, SQLiteSnapshot.key(version.zone, version.position))
            return false
        }
    }
}
