import CSQLite
import Platform

/// How a checkpoint went.
struct CheckpointOutcome {
    let code: Int32
    /// The log's pages, and how many of them are in the file; 0 when it failed.
    let logPages: Int
    let movedPages: Int

    /// Whether something else than readers or writers stood in the way.
    var isFailure: Bool { code != SQLITE_OK && code & 0xff != SQLITE_BUSY }
}

/// How long a checkpoint goes on asking whether the readers have gone.
private struct ReaderWait {
    let endsAt: UInt64
    let now: @Sendable () -> UInt64
}

extension Connection {
    /// Moves the log into the file as the mode says.
    ///
    /// A passive one waits for nobody.
    func checkpoint(_ mode: Int32) -> CheckpointOutcome {
        var logPages: Int32 = 0
        var movedPages: Int32 = 0
        var code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &logPages, &movedPages)
        if isQuotaExceeded(code, inLog: false) { code = SQLITE_FULL }
        return CheckpointOutcome(
            code: code, logPages: Int(max(0, logPages)), movedPages: Int(max(0, movedPages)))
    }

    /// Moves the log into the file as the mode says, waiting for readers and writers so long.
    func checkpoint(
        _ mode: Int32, waitSecondsMax: Double, now: @escaping @Sendable () -> UInt64
    ) -> CheckpointOutcome {
        let wait = ReaderWait(endsAt: now() &+ UInt64(waitSecondsMax * 1e9), now: now)
        return withUnsafePointer(to: wait) { wait in
            sqlite3_busy_handler(
                handle,
                { context, _ in
                    guard let wait = context?.assumingMemoryBound(to: ReaderWait.self).pointee,
                        wait.now() < wait.endsAt
                    else { return 0 }
                    sqlite3_sleep(1)
                    return 1
                }, UnsafeMutableRawPointer(mutating: wait))
            defer { sqlite3_busy_timeout(handle, Self.busyMillisecondsMax) }
            return checkpoint(mode)
        }
    }

    /// Gives pages that deletes have freed back to the disk, which gets them with a checkpoint.
    ///
    /// A write transaction of its own, or part of the one that is open.
    ///
    /// - Throws: `SQLiteError` as any write.
    package func giveBackFreePages(countMax: Int) throws {
        let vacuum = try prepare("PRAGMA incremental_vacuum(\(countMax))")
        try vacuum.run()
    }

    /// How many pages of the file hold nothing.
    package func freePageCount() throws -> Int {
        try prepare("PRAGMA freelist_count").first { Int($0.int64(0)) } ?? 0
    }

    /// By how many bytes the file grows when all of the log is moved into it.
    func growthAtCheckpoint() -> Int {
        var status = stat()
        // NB: the file is open, so only a fault hides its size; then the growth counts as too large.
        guard stat(path, &status) == 0, let count = try? pageCount() else { return .max }
        return max(0, count * 4_096 - Int(status.st_size))
    }

    /// How many pages the file has, as the connection's snapshot sees it.
    package func pageCount() throws -> Int {
        try prepare("PRAGMA page_count").first { Int($0.int64(0)) } ?? 0
    }

    /// Moves the log into the file and truncates it, if no reader is in the way.
    ///
    /// What cannot be moved stays in the log, which the next opening reads.
    package func truncateLog() {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, Self.busyMillisecondsMax) }
        _ = checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
    }

    /// Moves the log into the file and truncates it; waits for readers no longer than a moment.
    ///
    /// - Returns: whether nothing is left in the log.
    package func emptyLog(now: @escaping @Sendable () -> UInt64) -> Bool {
        checkpoint(
            SQLITE_CHECKPOINT_TRUNCATE, waitSecondsMax: Self.emptyingSecondsMax, now: now
        ).code == SQLITE_OK
    }

    private static let emptyingSecondsMax = 0.005

    /// Leaves the write-ahead log as it lies when the connection closes.
    package func leaveLogOnClose() { _ = lenticular_leave_log_on_close(handle) }
}
