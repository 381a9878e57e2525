import CSQLite
import Platform

/// Copies a database while it is written to.
///
/// It copies page by page. VACUUM INTO measured seven to fourteen times slower, and would keep the
/// log from being started over for as much longer. The copy is what the database held at one
/// moment. The backup is a reader like any other: writers go on, but the log is not started over
/// until the backup has ended.
package struct Backup: Sendable {
    /// How many pages are copied between two looks at `shouldStop`.
    package var pagesPerStep: Int32 = 1_024
    /// Asked between steps; true ends the copy with an error of kind `interrupted`.
    package var shouldStop: @Sendable () -> Bool = { false }
    /// The virtual file system of the source by its SQLite name; nil is the system's.
    package var fileSystem: String?

    package init() {}

    /// Copies `source` to `destination`, which must not be there yet, and brings it to the disk.
    ///
    /// The copy has mode 0600 and no log beside it. A copy that failed leaves nothing behind.
    ///
    /// - Returns: the copy's size.
    /// - Throws: `SQLiteError`: of kind `full` for want of room, `interrupted` when asked to stop,
    ///   CANTOPEN when the destination is there or cannot be made.
    @discardableResult
    package func copy(_ source: String, to destination: String) throws -> Int64 {
        guard access(destination, F_OK) != 0 else {
            throw SQLiteError(code: SQLITE_CANTOPEN, message: "\(destination) is there already")
        }
        // Under another name until it is whole, so that a half copy is never taken for one.
        let partial = destination + ".partial"
        unlink(partial)
        do {
            let bytes = try copyPages(of: source, to: partial)
            try FileModes.synchronize(partial)
            guard rename(partial, destination) == 0 else {
                throw FileModes.cannot("make", destination)
            }
            try FileModes.synchronize(FileModes.folder(of: destination))
            return bytes
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// How many pages may wait for the disk: a commit of the writer waits behind them.
    private static let pagesPerSync: Int32 = 4_096

    private static func synchronized(_ path: String) -> Int32 {
        do {
            try FileModes.synchronize(path)
            return SQLITE_OK
        } catch {
            return (error as? SQLiteError)?.code ?? SQLITE_IOERR
        }
    }

    private func copyPages(of source: String, to partial: String) throws -> Int64 {
        let reader = try Connection(
            path: source, mode: .readOnly, cacheKiB: 256, fileSystem: fileSystem)
        try FileModes.makePrivateFile(partial)
        let copy = try Connection(plainAt: partial)
        // With the snapshot held the copy goes through to its end: else each commit of the writer
        // between two steps would start it over.
        return try reader.snapshot { reader in
            let schema = try reader.prepare("SELECT count(*) FROM sqlite_schema")
            _ = try schema.step()
            schema.reset()
            guard let backup = sqlite3_backup_init(copy.handle, "main", reader.handle, "main")
            else { throw copy.lastError() }
            var code = SQLITE_OK
            var unsynced: Int32 = 0
            while code == SQLITE_OK {
                code = sqlite3_backup_step(backup, pagesPerStep)
                unsynced += pagesPerStep
                if code == SQLITE_OK, unsynced >= Self.pagesPerSync {
                    code = Self.synchronized(partial)
                    unsynced = 0
                }
                if code == SQLITE_OK, shouldStop() { code = SQLITE_INTERRUPT }
            }
            let pages = Int64(sqlite3_backup_pagecount(backup))
            sqlite3_backup_finish(backup)
            guard code == SQLITE_DONE else {
                throw SQLiteError(code: code, message: String(cString: sqlite3_errstr(code)))
            }
            return pages * Int64(try copy.pageBytes())
        }
    }
}

extension Connection {
    /// What is wrong with the file, found by reading all of it; empty when nothing is.
    ///
    /// - Parameter linesMax: where the list ends.
    /// - Throws: `SQLiteError` when the file is too broken to be read.
    package func integrityCheck(linesMax: Int = 100) throws -> [String] {
        let check = try prepare("PRAGMA integrity_check(\(linesMax))")
        defer { check.reset() }
        var lines: [String] = []
        while try check.step() { lines.append(check.string(0)) }
        return lines == ["ok"] ? [] : lines
    }

    fileprivate func pageBytes() throws -> Int {
        try prepare("PRAGMA page_size").first { Int($0.int64(0)) } ?? 0
    }
}
