import CSQLite

extension Connection {
    /// Reads of one moment: what `body` sees stays the same until it returns.
    ///
    /// Scans that `body` leaves open end with it; do not nest.
    ///
    /// - Throws: whatever `body` throws; `SQLiteError` of kind `interrupted` when it went past the
    ///   connection's deadline.
    package func snapshot<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        try begin.get().run()
        knownState = nil
        startDeadline()
        defer { endSnapshot() }
        return try body(self)
    }

    /// A number that two snapshots of this connection share if nobody has committed between them.
    ///
    /// To be asked for in a snapshot. Nil where the connection writes, for it does not tell of its own commits.
    ///
    /// - Throws: `SQLiteError`, as `Statement.step`.
    package func stateNumber() throws -> Int64? {
        guard isReader else { return nil }
        if let knownState { return knownState }
        let statement = try state.get()
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let number = statement.int64(0)
        knownState = number
        return number
    }

    private func endSnapshot() {
        stopDeadline()
        // NB: a read transaction has nothing to lose, and some errors have ended it already.
        if isInTransaction { try? commit.get().run() }
        guard sqlite3_txn_state(handle, nil) != SQLITE_TXN_NONE else { return }
        // A scan that was left open holds its snapshot until it is reset.
        resetStatements()
        // NB: as above.
        if isInTransaction { try? commit.get().run() }
    }
}
