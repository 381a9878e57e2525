import CSQLite

/// One connection to one database file, used by one thread at a time.
///
/// Never shares a cache with another connection and never maps the file into memory: a concurrent
/// writer makes a memory-mapped reader several times slower.
package final class Connection {
    package enum Mode: Sendable { case readWrite, readOnly }

    package let path: String
    let handle: OpaquePointer
    private var statements: [String: Statement] = [:]

    /// Opens the file, making it when the mode allows writing.
    ///
    /// - Parameter cacheKiB: the most memory that the connection's page cache takes.
    /// - Throws: `SQLiteError` when the file cannot be opened or is no database.
    package init(path: String, mode: Mode, cacheKiB: Int = 4_096) throws {
        var handle: OpaquePointer?
        let flags =
            SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
            | (mode == .readWrite
                ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY)
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw SQLiteError(code: code, message: message)
        }
        self.path = path
        self.handle = handle
        sqlite3_busy_timeout(handle, 10_000)
        try execute(
            """
            PRAGMA mmap_size = 0; PRAGMA cache_size = -\(cacheKiB); PRAGMA temp_store = MEMORY;
            PRAGMA foreign_keys = OFF; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
            """)
        if mode == .readWrite {
            try execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
                """)
        }
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Runs statements that take no parameters, separated by semicolons.
    package func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw lastError() }
    }

    /// The statement for this text, prepared once for the connection's life.
    package func prepare(_ sql: String) throws -> Statement {
        if let known = statements[sql] { return known }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw lastError() }
        let made = Statement(handle: statement, connection: self)
        statements[sql] = made
        return made
    }

    /// How many rows the last insert, update or delete touched.
    package var changeCount: Int { Int(sqlite3_changes(handle)) }

    package var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    func lastError() -> SQLiteError {
        SQLiteError(
            code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle))
        )
    }
}
