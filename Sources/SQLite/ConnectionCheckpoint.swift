import CSQLite

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
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &logPages, &movedPages)
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

    /// Moves the log into the file and truncates it, as far as readers let it.
    func checkpointBeforeClosing() {
        resetStatements()
        // NB: what cannot be moved stays in the log, which the next opening reads.
        sqlite3_busy_timeout(handle, 0)
        _ = checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
    }

    /// Leaves the write-ahead log as it lies when the connection closes.
    func leaveLogOnClose() { _ = lenticular_leave_log_on_close(handle) }
}
