import CloudKitWire
import Foundation

#if !os(Linux)
    import SQLite3
#endif

/// What this library keeps on a device between runs of a program, in one SQLite file.
///
/// Several programs may use one file. Only its owner can read it: it holds tokens.
package final class LocalStore: Sendable {
    /// What a column holds.
    package enum Value: Equatable, Sendable {
        case null
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
    }

    /// SQLite's word for what went wrong.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let connection: Locked<OpaquePointer>

    /// Opens a file, or makes it with its folder.
    ///
    /// - Throws: `Failure`, and what the file system reports.
    package init(file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        if !FileManager.default.fileExists(atPath: file.path) {
            // Made with its permissions, so that nobody reads it in between.
            _ = FileManager.default.createFile(
                atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(
            file.path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard result == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw Failure(description: "\(file.path) cannot be opened (\(result))")
        }
        connection = Locked(opened)
        sqlite3_busy_timeout(opened, Self.busyMilliseconds)
        for statement in Self.schema { try run(statement) }
    }

    deinit { connection.withLock { _ = sqlite3_close_v2($0) } }

    /// How long to wait for another program's write.
    private static let busyMilliseconds: Int32 = 5_000

    private static let schema = [
        "PRAGMA journal_mode = WAL",
        """
        CREATE TABLE IF NOT EXISTS operation (
            id TEXT PRIMARY KEY, container TEXT NOT NULL, kind TEXT NOT NULL, scope INTEGER NOT NULL,
            input BLOB NOT NULL, touched INTEGER NOT NULL) STRICT
        """,
        """
        CREATE TABLE IF NOT EXISTS answer (
            operation TEXT NOT NULL REFERENCES operation (id), number INTEGER NOT NULL,
            path TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (operation, number)) STRICT
        """,
        "CREATE TABLE IF NOT EXISTS token (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    ]

    /// Runs one statement.
    ///
    /// - Returns: its rows.
    /// - Throws: `Failure`.
    @discardableResult
    package func run(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
        try connection.withLock { connection in
            var prepared: OpaquePointer?
            guard sqlite3_prepare_v2(connection, sql, -1, &prepared, nil) == SQLITE_OK,
                let statement = prepared
            else { throw Self.failure(connection) }
            defer { sqlite3_finalize(statement) }
            for (index, value) in values.enumerated() {
                guard Self.bind(value, Int32(index + 1), statement) == SQLITE_OK else {
                    throw Self.failure(connection)
                }
            }
            var rows: [[Value]] = []
            while true {
                switch sqlite3_step(statement) {
                case SQLITE_ROW:
                    rows.append(
                        (0..<sqlite3_column_count(statement)).map { Self.column($0, statement) })
                case SQLITE_DONE: return rows
                default: throw Self.failure(connection)
                }
            }
        }
    }

    private static func failure(_ connection: OpaquePointer) -> Failure {
        Failure(description: String(cString: sqlite3_errmsg(connection)))
    }

    /// Lets SQLite copy what it is given.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private static func bind(
        _ value: Value, _ index: Int32, _ statement: OpaquePointer
    ) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .text(let text): sqlite3_bind_text(statement, index, text, -1, transient)
        case .bytes(let bytes):
            bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), transient)
        }
    }

    private static func column(_ index: Int32, _ statement: OpaquePointer) -> Value {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
        case SQLITE_TEXT:
            return .text(sqlite3_column_text(statement, index).map { String(cString: $0) } ?? "")
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, index))
            guard let start = sqlite3_column_blob(statement, index) else { return .bytes([]) }
            return .bytes([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
        default: return .null
        }
    }
}
