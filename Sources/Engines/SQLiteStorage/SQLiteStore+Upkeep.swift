import SQLite

extension SQLiteStore {
    /// Gives a restored file, which no store has open, a new incarnation.
    ///
    /// Tokens of the previous one stay good up to its last position; later ones expire, and no number
    /// that it gave out is given out again.
    ///
    /// - Throws: `MigrationError`, `SQLiteError`.
    package static func beginIncarnation(
        at path: String, random: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        let connection = try Connection(path: path, mode: .readWrite)
        try Schemas.store.migrate(connection)
        try StoreProperties(connection).beginIncarnation(random: random)
        // That of a life before says nothing of what the copy lacks.
        PositionNote.remove(besideStore: path)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Whether a file holds nothing that anybody has put there.
    ///
    /// - Throws: `SQLiteError`.
    package static func isUnused(at path: String) throws -> Bool {
        let connection = try Connection(path: path, mode: .readOnly)
        // All tables are made at once.
        guard try has("SELECT 1 FROM sqlite_schema WHERE name = 'zones'", connection) else {
            return true
        }
        return try ["zones", "schema_changes", "assigned_roles", "asset_files"].allSatisfy {
            try !has("SELECT 1 FROM \($0) LIMIT 1", connection)
        }
    }

    private static func has(_ query: String, _ connection: Connection) throws -> Bool {
        try connection.prepare(query).hasRow()
    }
}
