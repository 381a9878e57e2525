import Files
import MigrationHistory

/// Brings a database to the schema that the server was built with.
package struct Migrator: Sendable {
    /// Marks the file as this server's: "LenT", read as a number, in the SQLite header.
    package static let applicationID: Int64 = 0x4c65_6e54

    private let migrations: [Migration]
    private let olderForms: [Int64: String]

    /// - Parameters:
    ///   - migrations: every one there is, oldest first.
    ///   - olderForms: forms that none of them leads away from: the checksum of the first migration of each, and the
    ///     last commit that reads it.
    package init(_ migrations: [Migration], olderForms: [Int64: String] = [:]) {
        self.migrations = migrations
        self.olderForms = olderForms
    }

    /// How many migrations the database lacks.
    ///
    /// - Throws: as `migrate`.
    package func pendingCount(_ connection: Connection) throws -> Int {
        let application = try number("PRAGMA application_id", connection)
        guard application == Self.applicationID else {
            let objects = try number("SELECT count(*) FROM sqlite_schema", connection)
            guard application == 0, objects == 0 else { throw MigrationError.foreign }
            return migrations.count
        }
        let rows = try connection.prepare("SELECT name, checksum FROM migrations ORDER BY number")
        defer { rows.reset() }
        var recorded: [RecordedMigration] = []
        while try rows.step() {
            recorded.append(RecordedMigration(name: rows.string(0), checksum: rows.int64(1)))
        }
        return try MigrationHistory(migrations, olderForms: olderForms).pendingCount(
            after: recorded)
    }

    /// Where a database is copied to before migrations change it, beside it: by the first of them.
    package static func copyPath(of path: String, before migration: String) -> String {
        "\(path).before-\(migration)"
    }

    /// The copies of a database made before migrations, and what a crash has left of one.
    package static func copies(of path: String) throws -> [String] {
        guard let folder = FileSystem.parent(of: path) else { return [] }
        let start = copyPath(of: path, before: "")
        return try FileSystem.names(in: folder).map { "\(folder)/\($0)" }
            .filter { $0.hasPrefix(start) }
    }

    /// Removes the copies made before migrations: who is erased goes from them, too.
    package static func removeCopies(of path: String) throws {
        for copy in try copies(of: path) { FileSystem.removeFile(copy) }
    }

    /// Runs what the database lacks, in order, all in one transaction.
    ///
    /// What holds data is copied first, beside it, so that there is a way back to the version before.
    ///
    /// - Throws: `MigrationError` when this version may not touch the database; `SQLiteError`. The database then
    ///   stays as it was.
    package func migrate(_ connection: Connection) throws {
        let pending = try pendingCount(connection)
        guard pending > 0 else { return }
        if pending < migrations.count {
            try copy(connection, before: migrations[migrations.count - pending])
        }
        try connection.transaction {
            try connection.execute(
                """
                PRAGMA application_id = \(Self.applicationID);
                CREATE TABLE IF NOT EXISTS migrations (
                    number INTEGER PRIMARY KEY,
                    name TEXT NOT NULL,
                    checksum INTEGER NOT NULL
                );
                """)
            // Looked at again: another process may have been first.
            for number in try migrations.count - pendingCount(connection)..<migrations.count {
                try run(migrations[number], as: number + 1, connection)
            }
        }
    }

    /// Takes the place of every copy made before: of a start that went no further, since which the database may have
    /// changed, and of the upgrade before this one.
    private func copy(_ connection: Connection, before migration: Migration) throws {
        let path = connection.path
        let copy = Self.copyPath(of: path, before: migration.name)
        let unfinished = copy + ".unfinished"
        try FileSystem.removeTree(unfinished)
        try FileModes.makePrivateFile(unfinished)
        try connection.prepare("VACUUM INTO ?1").run(unfinished)
        try FileSystem.synchronize(unfinished)
        for former in try Self.copies(of: path) where former != unfinished {
            FileSystem.removeFile(former)
        }
        try FileSystem.move(unfinished, to: copy)
        try FileSystem.synchronize(FileSystem.parent(of: path) ?? ".")
    }

    private func run(_ migration: Migration, as number: Int, _ connection: Connection) throws {
        try connection.execute(migration.sql)
        try connection.prepare("INSERT INTO migrations VALUES (?1, ?2, ?3)").run(
            number, migration.name, migration.checksum)
    }

    private func number(_ sql: String, _ connection: Connection) throws -> Int64 {
        try connection.prepare(sql).first { $0.int64(0) } ?? 0
    }
}
