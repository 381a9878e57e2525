import CSQLite

/// A statement of one connection, prepared when it is first used and kept for reuse.
///
/// Parameters count from 1, columns from 0. Confined, as its connection, to one thread at a time.
package final class Statement {
    /// Nil until it is prepared; SQLite takes that for a statement that holds nothing.
    private var handle: OpaquePointer?
    private let sql: String
    private unowned let connection: Connection
    private let ending: ConnectionEnding
    /// The connection's own, which each step looks at.
    private let mark: OpenSnapshots.Mark
    /// The first failure of a call that does not throw; the next step throws it.
    private var fault = SQLITE_OK

    init(_ sql: String, of connection: Connection) {
        self.sql = sql
        self.connection = connection
        ending = connection.ending
        mark = connection.mark
    }

    deinit { ending.withLock { sqlite3_finalize(handle) } }

    /// Has SQLite read and plan it, if that was not done yet.
    func prepare() throws(SQLiteError) {
        if handle == nil { handle = try connection.compile(sql) }
    }

    /// What values are bound to; nil where the statement cannot be prepared, which the next step tells.
    var ready: OpaquePointer? {
        do throws(SQLiteError) { try prepare() } catch { note(error.code) }
        return handle
    }

    package func bind(_ value: Int64, at index: Int32) {
        note(sqlite3_bind_int64(ready, index, value))
    }

    package func bind(_ value: Double, at index: Int32) {
        note(sqlite3_bind_double(ready, index, value))
    }

    package func bindNull(at index: Int32) { note(sqlite3_bind_null(ready, index)) }

    /// Binds a copy of the text.
    package func bind(_ value: String, at index: Int32) {
        var value = value
        value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                note(
                    lenticular_bind_text_copied(
                        ready, index, $0.baseAddress ?? Statement.nothing, UInt64($0.count)))
            }
        }
    }

    /// Binds a copy of the text, given as UTF-8.
    package func bind(text: [UInt8], at index: Int32) {
        text.withUnsafeBytes {
            note(
                lenticular_bind_text_copied(
                    ready, index,
                    $0.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Statement.nothing,
                    UInt64($0.count)))
        }
    }

    /// Binds a copy of the bytes.
    package func bind(_ value: [UInt8], at index: Int32) {
        value.withUnsafeBytes {
            note(
                lenticular_bind_blob_copied(
                    ready, index, $0.baseAddress ?? UnsafeRawPointer(Statement.nothing),
                    UInt64($0.count)))
        }
    }

    /// Binds values to the parameters in order, beginning with the first; nil is NULL.
    ///
    /// Where each instruction counts, `bind(_:at:)` binds a value without a list of them.
    package func bind(_ values: (any StatementValue)?...) { bind(all: values) }

    /// Binds values to the parameters in order, and runs to the end.
    package func run(_ values: (any StatementValue)?...) throws {
        bind(all: values)
        try run()
    }

    /// As `run` of several values, for numbers alone.
    package func run(_ numbers: Int64...) throws {
        for (index, number) in zip(Int32(1)..., numbers) { bind(number, at: index) }
        try run()
    }

    /// Binds values to the parameters in order, and reads the first row; nil where there is none.
    package func first<Row>(
        _ values: (any StatementValue)?..., row: (Statement) throws -> Row?
    ) throws -> Row? {
        bind(all: values)
        defer { reset() }
        return try step() ? try row(self) : nil
    }

    /// As `first` of several values, for the one number that requests ask by: without a list of values.
    package func first<Row>(
        _ number: Int64, row: (Statement) throws -> Row?
    ) throws -> Row? {
        bind(number, at: 1)
        defer { reset() }
        return try step() ? try row(self) : nil
    }

    /// Binds values to the parameters in order, and reads all rows.
    package func all<Row>(
        _ values: (any StatementValue)?..., row: (Statement) throws -> Row
    ) throws -> [Row] {
        bind(all: values)
        defer { reset() }
        var found: [Row] = []
        while try step() { found.append(try row(self)) }
        return found
    }

    /// Binds values to the parameters in order; whether there is a row.
    package func hasRow(_ values: (any StatementValue)?...) throws -> Bool {
        bind(all: values)
        defer { reset() }
        return try step()
    }

    private func bind(all values: [(any StatementValue)?]) {
        for (index, value) in zip(Int32(1)..., values) {
            if let value { value.bind(to: self, at: index) } else { bindNull(at: index) }
        }
    }

    /// Binds bytes that must stay in place until the statement is reset.
    package func bindBorrowed(blob: UnsafeRawBufferPointer, at index: Int32) {
        note(
            lenticular_bind_blob_borrowed(
                ready, index, blob.baseAddress ?? UnsafeRawPointer(Statement.nothing),
                UInt64(blob.count)))
    }

    /// Binds UTF-8 that must stay in place until the statement is reset.
    package func bindBorrowed(text: UnsafeRawBufferPointer, at index: Int32) {
        note(
            lenticular_bind_text_borrowed(
                ready, index,
                text.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Statement.nothing,
                UInt64(text.count)))
    }

    /// Moves to the next row; false after the last one, when the statement is ready for its next use.
    ///
    /// - Throws: `SQLiteError`: whatever SQLite reports, of the statement itself too; when a value could not be bound (too long,
    ///   no memory, or bound in the middle of a scan); when a column of the last row could not be
    ///   read, because there was no memory; and of kind `interrupted`, when others have ended the
    ///   snapshot.
    package func step() throws -> Bool {
        if fault != SQLITE_OK { throw takeFault() }
        if mark.isEnded {
            sqlite3_reset(handle)
            throw SQLiteError(code: SQLITE_INTERRUPT, message: "the snapshot was ended")
        }
        try prepare()
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE {
            // One that is not reset takes no values.
            sqlite3_reset(handle)
            return false
        }
        let error = connection.lastError()
        sqlite3_reset(handle)
        throw error
    }

    /// Runs to the end and makes the statement ready for its next use.
    package func run() throws {
        while try step() {}
    }

    /// Ends a row scan before its last row and releases its read lock; bindings stay.
    package func reset() { sqlite3_reset(handle) }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// What SQLite keeps a value as.
    package enum Kind: Sendable { case null, integer, real, text, blob }

    package func kind(_ column: Int32) -> Kind {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    package func string(_ column: Int32) -> String {
        String(decoding: bytes(column), as: UTF8.self)
    }

    /// The column's bytes; valid until the next step or reset.
    package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        // Looked for once: no other thread has the connection while this one reads the value.
        let value = sqlite3_column_value(handle, column)
        guard let start = sqlite3_value_blob(value) else {
            if sqlite3_value_type(value) != SQLITE_NULL, sqlite3_value_bytes(value) > 0 {
                note(SQLITE_NOMEM)
            }
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    private func note(_ code: Int32) {
        // A value left out silently would be the one bound before, written as if it were this one.
        if code != SQLITE_OK, fault == SQLITE_OK { fault = code }
    }

    private func takeFault() -> SQLiteError {
        defer {
            fault = SQLITE_OK
            sqlite3_reset(handle)
        }
        // Why there is no statement says more than that it took no value.
        do throws(SQLiteError) { try prepare() } catch { return error }
        return SQLiteError(code: fault, message: String(cString: sqlite3_errstr(fault)))
    }

    private static nonisolated(unsafe) let nothing: UnsafePointer<CChar> = {
        // A non-null address of no bytes: SQLite reads a null one as the value NULL.
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.pointee = 0
        return UnsafePointer(byte)
    }()
}

/// What a parameter of a statement can be bound to.
package protocol StatementValue {
    func bind(to statement: Statement, at index: Int32)
}

extension Int64: StatementValue {
    package func bind(to statement: Statement, at index: Int32) { statement.bind(self, at: index) }
}

extension Int: StatementValue {
    package func bind(to statement: Statement, at index: Int32) {
        statement.bind(Int64(self), at: index)
    }
}

extension Double: StatementValue {
    package func bind(to statement: Statement, at index: Int32) { statement.bind(self, at: index) }
}

extension String: StatementValue {
    package func bind(to statement: Statement, at index: Int32) { statement.bind(self, at: index) }
}

extension [UInt8]: StatementValue {
    package func bind(to statement: Statement, at index: Int32) { statement.bind(self, at: index) }
}
