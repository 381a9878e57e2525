import CSQLite

/// A prepared statement of one connection, kept for reuse.
///
/// Parameters count from 1, columns from 0. Confined, as its connection, to one thread at a time.
package final class Statement {
    let handle: OpaquePointer
    private unowned let connection: Connection

    init(handle: OpaquePointer, connection: Connection) {
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    package func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

    package func bind(_ value: Double, at index: Int32) {
        sqlite3_bind_double(handle, index, value)
    }

    package func bindNull(at index: Int32) { sqlite3_bind_null(handle, index) }

    /// Binds a copy of the text.
    package func bind(_ value: String, at index: Int32) {
        var value = value
        value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                // SQLITE_TRANSIENT: SQLite copies before the call returns.
                _ = sqlite3_bind_text(
                    handle, index, $0.baseAddress ?? Statement.nothing, Int32($0.count),
                    unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            }
        }
    }

    /// Binds a copy of the bytes.
    package func bind(_ value: [UInt8], at index: Int32) {
        value.withUnsafeBytes {
            _ = sqlite3_bind_blob(
                handle, index, $0.baseAddress ?? UnsafeRawPointer(Statement.nothing),
                Int32($0.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
    }

    /// Binds bytes that must stay in place until the statement is reset.
    package func bindBorrowed(blob: UnsafeRawBufferPointer, at index: Int32) {
        _ = lenticular_bind_blob_borrowed(
            handle, index, blob.baseAddress ?? UnsafeRawPointer(Statement.nothing),
            Int32(blob.count))
    }

    /// Binds UTF-8 that must stay in place until the statement is reset.
    package func bindBorrowed(text: UnsafeRawBufferPointer, at index: Int32) {
        _ = lenticular_bind_text_borrowed(
            handle, index,
            text.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Statement.nothing,
            Int32(text.count))
    }

    /// Moves to the next row; false after the last one.
    ///
    /// - Throws: `SQLiteError` for whatever SQLite reports.
    package func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let error = connection.lastError()
        sqlite3_reset(handle)
        throw error
    }

    /// Runs to the end and makes the statement ready for its next use.
    package func run() throws {
        while try step() {}
        reset()
    }

    /// Ends the row scan and releases its read lock; bindings stay.
    package func reset() { sqlite3_reset(handle) }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    package func string(_ column: Int32) -> String {
        String(decoding: bytes(column), as: UTF8.self)
    }

    /// The column's bytes; valid until the next step or reset.
    package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(
            start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    private static nonisolated(unsafe) let nothing: UnsafePointer<CChar> = {
        // A non-null address of no bytes: SQLite reads a null one as the value NULL.
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.pointee = 0
        return UnsafePointer(byte)
    }()
}
