import SQLite
import Storage

extension SQLiteStore {
    /// Makes an empty file that replaces a store; nobody may have the store open.
    ///
    /// It keeps the store's name for itself and its schema's history. Every token of the old file
    /// expires, and no number that it gave out is given out again.
    ///
    /// - Parameters:
    ///   - path: of the new file, which is not there; its folder is.
    ///   - old: of the file that it will replace.
    /// - Throws: `MigrationError`, `SQLiteError`; the new file is then useless.
    package static func makeSuccessor(
        at path: String, of old: String, _ beginning: StoreBeginning,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        let previous = try Connection(path: old, mode: .readOnly)
        let connection = try Connection(path: path, mode: .readWrite)
        try Schemas.store.migrate(connection)
        let properties = StoreProperties(connection)
        let previousProperties = StoreProperties(previous)
        _ = try properties.makeMissing(named: previousProperties.name() ?? [], random: random)
        try connection.transaction {
            try properties.succeed(previousProperties)
            try copyHistory(from: previous, to: connection)
            var writing = SchemaWriter(connection)
            _ = try writing.replace(
                try StoredSchema.read(connection), by: beginning.schema, at: beginning.moment,
                who: beginning.who, difference: beginning.difference)
        }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static func copyHistory(from old: Connection, to new: Connection) throws {
        let rows = try old.prepare(
            "SELECT number, made_at, made_by, difference FROM schema_changes ORDER BY number")
        defer { rows.reset() }
        let insert = try new.prepare(
            """
            INSERT INTO schema_changes (number, made_at, made_by, difference)
            VALUES (?1, ?2, ?3, ?4)
            """)
        while try rows.step() {
            try insert.run(rows.int64(0), rows.int64(1), rows.string(2), rows.string(3))
        }
    }
}
