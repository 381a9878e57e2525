import CloudModel
import SQLite
import Storage

@testable import SQLiteStorage

/// Puts the versions of a store back into the table in which servers of before version rows had them.
enum FormerVersions {
    /// - Parameter store: the file of a store that no server has open.
    /// - Returns: how many there are.
    @discardableResult
    static func bringBack(_ store: String) throws -> Int {
        let connection = try Connection(path: store, mode: .readWrite)
        let insert = try connection.prepare("INSERT INTO versions VALUES (?1, ?2, ?3, ?4, ?5)")
        var count = 0
        try connection.execute("BEGIN IMMEDIATE")
        try VersionReader(connection, Damage()).scan(
            after: 0, through: .max, newestFirst: false
        ) { key, version in
            insert.bind(key, at: 1)
            insert.bind(version.record.value, at: 2)
            insert.bind(version.type, at: 3)
            insert.bind(version.flags.rawValue, at: 4)
            insert.bind([UInt8](version.body), at: 5)
            try insert.run()
            count += 1
            return true
        }
        try connection.execute(
            """
            DELETE FROM version_rows;
            INSERT OR IGNORE INTO work (kind, subject, item, enqueued_at) VALUES (8, 0, 0, 0);
            COMMIT
            """)
        return count
    }

    /// Puts the names of its records back into the index of their text that servers of before hashes had.
    ///
    /// - Returns: how many there are.
    @discardableResult
    static func bringBackNames(_ store: String) throws -> Int {
        let connection = try Connection(path: store, mode: .readWrite)
        return try withExtendedLifetime(connection) {
            try connection.execute(
                """
                BEGIN IMMEDIATE;
                CREATE UNIQUE INDEX heads_by_name ON heads (zone, name);
                DELETE FROM names;
                DELETE FROM properties WHERE name = 'name_hash_key';
                UPDATE progress SET names_through = 0, names_by_text = 1;
                DELETE FROM work WHERE kind = 7;
                INSERT INTO work (kind, subject, item, enqueued_at) VALUES (7, 0, 0, 0);
                COMMIT
                """)
            let row = try connection.prepare("SELECT count(*) FROM heads")
            defer { row.reset() }
            return try row.step() ? Int(row.int64(0)) : 0
        }
    }

    /// Moves some of them as the store's worker does.
    static func move(_ store: String, limit: Int = .max, freeBytesMin: Int = 0) throws {
        let connection = try Connection(path: store, mode: .readWrite)
        let writer = try VersionWriter(
            connection, VersionNames(connection), MoveRoom(freeBytesMin: freeBytesMin))
        try connection.execute("BEGIN IMMEDIATE")
        _ = try writer.move(limit: limit)
        try connection.execute("COMMIT")
    }

    /// How many are there still.
    static func left(in store: String) throws -> Int {
        let connection = try Connection(path: store, mode: .readOnly)
        return try withExtendedLifetime(connection) {
            let row = try connection.prepare("SELECT count(*) FROM versions")
            defer { row.reset() }
            return try row.step() ? Int(row.int64(0)) : 0
        }
    }
}
