import CSQLite

/// A function of SQL that leads from a number and a text to a row: `name(number, text)`.
///
/// Confined, as its connection, to one thread at a time.
package final class RowFinder {
    private let find: (_ number: Int64, _ text: UnsafeRawBufferPointer) throws -> Int64?

    private init(
        _ find: @escaping (_ number: Int64, _ text: UnsafeRawBufferPointer) throws -> Int64?
    ) {
        self.find = find
    }

    /// Makes a function of this name known to a connection, for as long as it is open.
    ///
    /// - Parameter find: gives the row's id, or nil, which is NULL. It may read on the connection by statements of its
    ///   own; what it throws fails the statement that asked.
    /// - Throws: `SQLiteError` when there is no memory.
    package static func name(
        _ name: String, on connection: Connection,
        find: @escaping (_ number: Int64, _ text: UnsafeRawBufferPointer) throws -> Int64?
    ) throws {
        let made = RowFinder(find)
        let code = sqlite3_create_function_v2(
            connection.handle, name, 2, SQLITE_UTF8, Unmanaged.passUnretained(made).toOpaque(),
            { context, _, values in
                guard let values, let finder = sqlite3_user_data(context) else { return }
                let text = UnsafeRawBufferPointer(
                    start: sqlite3_value_blob(values[1]),
                    count: Int(sqlite3_value_bytes(values[1])))
                do {
                    let found = try Unmanaged<RowFinder>.fromOpaque(finder).takeUnretainedValue()
                        .find(sqlite3_value_int64(values[0]), text)
                    if let found {
                        sqlite3_result_int64(context, found)
                    } else {
                        sqlite3_result_null(context)
                    }
                } catch { sqlite3_result_error(context, "\(error)", -1) }
            }, nil, nil, nil)
        guard code == SQLITE_OK else { throw connection.lastError() }
        // SQLite lets go of a function while it closes, which it does not while the finder has statements.
        connection.finders.append(made)
    }
}
