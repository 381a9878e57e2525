/// One step of a schema's history: run once, in one transaction, never edited after a release.
package struct Migration: Sendable {
    package let name: String
    package let sql: String
    /// FNV-1a of the text, 64 bits: tells an edited file, not an attack.
    let checksum: Int64

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
        checksum = Self.checksum(of: sql)
    }

    private static func checksum(of sql: String) -> Int64 {
        let hash = sql.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        return Int64(bitPattern: hash)
    }
}

/// Why a database was not migrated.
package enum MigrationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file holds something else than this server's data.
    case foreign
    /// A newer server has been here.
    case newer(name: String)
    /// The recorded migration is not the one of this name that the server holds.
    case altered(name: String)

    package var description: String {
        switch self {
        case .foreign: "the file is a database of another program"
        case .newer(let name):
            "the database is of a newer version (it holds the migration \(name)); run that version, or "
                + "put the copy that it made before its migration (.v and a number at its end) in the "
                + "database's place, without what was saved since"
        case .altered(let name):
            "the migration \(name) in the database is not the one that this version knows"
        }
    }
}

/// Brings a database to the schema that the server was built with.
package struct Migrator: Sendable {
    /// Marks the file as this server's: "LenT", read as a number, in the SQLite header.
    package static let applicationID: Int64 = 0x4c65_6e54

    private let migrations: [Migration]

    /// - Parameter migrations: every one there is, oldest first.
    package init(_ migrations: [Migration]) { self.migrations = migrations }

    /// How many migrations the database lacks; for a backup to be made before they run.
    ///
    /// - Throws: as `migrate`.
    package func pendingCount(_ connection: Connection) throws -> Int {
        migrations.count - (try recordedCount(connection))
    }

    /// The schema's version of a database that lacks migrations; nil for one that lacks none, or holds nothing yet.
    ///
    /// - Throws: as `migrate`.
    package func formerVersion(_ connection: Connection) throws -> Int? {
        let recorded = try recordedCount(connection)
        return recorded > 0 && recorded < migrations.count ? recorded : nil
    }

    /// Runs what the database lacks, in order, each in a transaction of its own with its record.
    ///
    /// - Returns: how many ran.
    /// - Throws: `MigrationError` when this version may not touch the database, which then stays as
    ///   it was; `SQLiteError` from a migration, and the migrations before it stay.
    @discardableResult
    package func migrate(_ connection: Connection) throws -> Int {
        let recorded = try recordedCount(connection)
        if recorded == 0 {
            try transaction(connection) {
                try connection.execute(
                    """
                    PRAGMA application_id = \(Self.applicationID);
                    CREATE TABLE IF NOT EXISTS migrations (
                        number INTEGER PRIMARY KEY,
                        name TEXT NOT NULL,
                        checksum INTEGER NOT NULL
                    );
                    """)
            }
        }
        for number in recorded..<migrations.count {
            let migration = migrations[number]
            try transaction(connection) {
                try connection.execute(migration.sql)
                let record = try connection.prepare("INSERT INTO migrations VALUES (?1, ?2, ?3)")
                record.bind(Int64(number + 1), at: 1)
                record.bind(migration.name, at: 2)
                record.bind(migration.checksum, at: 3)
                try record.run()
                try connection.execute("PRAGMA user_version = \(number + 1)")
            }
        }
        return migrations.count - recorded
    }

    /// How many of the migrations are in the database, which holds no other.
    private func recordedCount(_ connection: Connection) throws -> Int {
        let application = try number("PRAGMA application_id", connection)
        guard application == Self.applicationID else {
            let objects = try number("SELECT count(*) FROM sqlite_schema", connection)
            guard application == 0, objects == 0 else { throw MigrationError.foreign }
            return 0
        }
        let rows = try connection.prepare("SELECT name, checksum FROM migrations ORDER BY number")
        defer { rows.reset() }
        var count = 0
        while try rows.step() {
            let name = rows.string(0)
            guard count < migrations.count else { throw MigrationError.newer(name: name) }
            guard migrations[count].name == name, migrations[count].checksum == rows.int64(1) else {
                throw MigrationError.altered(name: name)
            }
            count += 1
        }
        return count
    }

    private func number(_ sql: String, _ connection: Connection) throws -> Int64 {
        let statement = try connection.prepare(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
    }

    private func transaction(_ connection: Connection, _ body: () throws -> Void) throws {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            try body()
            try connection.execute("COMMIT")
        } catch {
            connection.resetStatements()
            // NB: the first error is the one to tell; a transaction left open ends on closing.
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }
}
