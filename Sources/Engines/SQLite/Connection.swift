import CLogWrites
import CSQLite
import Platform

/// One connection to one database file, used by one thread at a time.
///
/// Never shares a cache with another connection and never maps the file into memory: a concurrent
/// writer makes a memory-mapped reader several times slower.
package final class Connection {
    package enum Mode: Sendable { case readWrite, readOnly }

    package let path: String
    let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    private var sets: [ObjectIdentifier: any StatementSet] = [:]
    /// Of the functions that are known to it.
    var finders: [RowFinder] = []
    /// Prepared with the connection, so that a snapshot looks nothing up.
    private(set) lazy var begin = Result { try prepare("BEGIN") }
    private(set) lazy var commit = Result { try prepare("COMMIT") }
    private(set) lazy var state = Result { try prepare("PRAGMA data_version") }
    /// Whether it only reads; a writer does not learn of its own commits.
    private(set) lazy var isReader = sqlite3_db_readonly(handle, "main") == 1
    /// The state of the snapshot that goes on, once somebody has asked for it.
    var knownState: Int64?
    let ending = ConnectionEnding()
    /// By which others end the snapshot that goes on.
    let mark = OpenSnapshots.Mark()
    /// At a fixed place: SQLite asks it from within its scans.
    var deadline: UnsafeMutablePointer<ReadDeadline>?
    /// Lives as long as the handle: the log hook writes into it.
    private let logPageCount = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// Opens the file, making it (mode 0600) when the mode allows writing.
    ///
    /// - Parameters:
    ///   - cacheKiB: the most memory that the connection's page cache takes.
    ///   - fileSystem: the virtual file system by its SQLite name; nil is the system's.
    /// - Throws: `SQLiteError` when the file cannot be opened or is no database.
    package convenience init(
        path: String, mode: Mode, cacheKiB: Int = 4_096, fileSystem: String? = nil
    ) throws {
        if mode == .readWrite { try FileModes.makePrivateFile(path) }
        try self.init(
            path: path,
            flags: mode == .readWrite
                ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY,
            cacheKiB: cacheKiB,
            fileSystem: mode == .readWrite ? try Self.gathered(fileSystem) : fileSystem)
        switch mode {
        case .readWrite: try prepareForWriting()
        case .readOnly: try execute("PRAGMA query_only = ON")
        }
    }

    private init(path: String, flags: Int32, cacheKiB: Int, fileSystem: String?) throws {
        Self.countNoMemory
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(
            path, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, fileSystem)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            let systemError = handle.map { sqlite3_system_errno($0) } ?? 0
            sqlite3_close_v2(handle)
            logPageCount.deallocate()
            throw SQLiteError(code: code, message: message, systemError: systemError)
        }
        self.path = path
        self.handle = handle
        logPageCount.initialize(to: 0)
        sqlite3_busy_timeout(handle, Self.busyMillisecondsMax)
        try execute(
            """
            PRAGMA mmap_size = 0; PRAGMA cache_size = -\(cacheKiB); PRAGMA temp_store = MEMORY;
            PRAGMA foreign_keys = OFF; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
            """)
    }

    /// The file system by which the log is written in few calls, over another one.
    private static func gathered(_ fileSystem: String?) throws -> String {
        countNoMemory
        guard let name = log_writes_gathered(fileSystem) else {
            throw SQLiteError(
                code: SQLITE_CANTOPEN, message: "there is no file system to write the log by")
        }
        return String(cString: name)
    }

    /// How long a statement waits for another process's lock, such as a shell's.
    static let busyMillisecondsMax: Int32 = 10_000

    deinit {
        removeDeadline()
        finders.removeAll()
        sets.removeAll()
        statements.removeAll()
        ending.withLock { sqlite3_close_v2(handle) }
        logPageCount.deallocate()
    }

    /// Runs statements that take no parameters, separated by semicolons.
    package func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw lastError() }
    }

    /// Runs what belongs together, or nothing of it.
    package func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            rollBack()
            throw error
        }
    }

    /// Undoes a transaction, if one goes on, after an error.
    package func rollBack() {
        resetStatements()
        // NB: the first error is the one to tell; a transaction left open ends on closing.
        if isInTransaction { try? execute("ROLLBACK") }
    }

    /// The statement for this text, prepared once for the connection's life.
    ///
    /// One text is one statement: do not ask for it again while a scan of it goes on.
    package func prepare(_ sql: String) throws -> Statement {
        let statement = statement(sql)
        try statement.prepare()
        return statement
    }

    /// As `prepare`, but the statement is prepared when it is first used.
    ///
    /// For what a connection may never be asked. What is wrong with the text, its first step throws.
    package func statement(_ sql: String) -> Statement {
        if let known = statements[sql] { return known }
        let made = Statement(sql, of: self)
        statements[sql] = made
        return made
    }

    /// The statements of a kind, made when they are first asked for.
    package func prepared<Kind: StatementSet>(_ kind: Kind.Type = Kind.self) throws -> Kind {
        let key = ObjectIdentifier(kind)
        // What stands under a kind is of that kind.
        if let known = sets[key] { return unsafeDowncast(known, to: Kind.self) }
        let made = try Kind(self)
        sets[key] = made
        return made
    }

    func compile(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw lastError() }
        return statement
    }

    /// How many rows the last insert, update or delete touched.
    package var changeCount: Int { Int(sqlite3_changes(handle)) }

    /// How many rows have been inserted, updated or deleted since the connection was opened.
    var totalChangeCount: Int64 { sqlite3_total_changes64(handle) }

    package var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Whether a BEGIN is open; some errors end the transaction by themselves.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The pages in the write-ahead log after this connection's last commit.
    package var logPages: Int { Int(logPageCount.pointee) }

    /// Ends every scan that was left halfway, by an error for instance.
    ///
    /// A scan that stays open holds on to its snapshot.
    package func resetStatements() {
        var statement = sqlite3_next_stmt(handle, nil)
        while let current = statement {
            sqlite3_reset(current)
            statement = sqlite3_next_stmt(handle, current)
        }
    }

    func lastError() -> SQLiteError {
        let code = sqlite3_extended_errcode(handle)
        if isQuotaExceeded(code, inLog: true) { return .diskFull }
        return SQLiteError(
            code: code, message: String(cString: sqlite3_errmsg(handle)),
            systemError: sqlite3_system_errno(handle))
    }

    /// Whether a write failed because the server's user has used up their share of the disk.
    ///
    /// To SQLite that is an I/O error as any other, but nothing is wrong with the disk: it is full.
    ///
    /// - Parameter inLog: whether it was the log that was written to, or else the file.
    func isQuotaExceeded(_ code: Int32, inLog: Bool) -> Bool {
        code == lenticular_write_error()
            && lenticular_last_write_error(handle, inLog ? 1 : 0) == EDQUOT
    }

    private func prepareForWriting() throws {
        // The first two are for a new file only, so they come before anything writes its header.
        // Incremental: so that a file can give the disk back, in steps, what deletes have freed.
        // It cannot be turned on later, and its page map cost writes less than what two runs of
        // the same measurement differ by.
        let vacuum = try prepare("PRAGMA auto_vacuum")
        let isIncremental = try vacuum.step() && vacuum.int64(0) == 2
        vacuum.reset()
        // NB: said again it would write to the file, and no server could start on a full disk.
        if !isIncremental {
            try execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")
        }
        // NB: by FAST a page that is given up keeps what it has held, and so does the rest of it that its next row
        // leaves unused: nobody could overwrite this later.
        try execute("PRAGMA secure_delete = ON; PRAGMA synchronous = FULL")
        let journal = try prepare("PRAGMA journal_mode = WAL")
        guard try journal.step(), journal.string(0) == "wal" else {
            throw SQLiteError(code: SQLITE_CANTOPEN, message: "the file takes no write-ahead log")
        }
        journal.reset()
        try execute("PRAGMA wal_autocheckpoint = 0")
        // After the pragma, which would take the hook away.
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, logPageCount)
    }

    /// Has SQLite keep no count of its memory, which costs a lock around every allocation of every thread.
    ///
    /// SQLite takes this only before its first use, to which registering a file system belongs.
    private static let countNoMemory: Void = { _ = lenticular_count_no_memory() }()
}

/// Statements that belong together, of one connection.
package protocol StatementSet: AnyObject {
    init(_ connection: Connection) throws
}
