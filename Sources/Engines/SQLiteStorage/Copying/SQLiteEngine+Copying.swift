import CatalogSQL
import CloudModel
import Files
import SQLite
import Storage

// Parts as rows that any engine takes.
extension SQLiteEngine {
    package func readRows<Value: Sendable>(
        of part: CopiedPart, _ body: (CopiedRows) throws -> Value
    ) throws -> Value {
        switch part {
        case .catalog(let container): return try sqliteCatalog.readRows(of: container, body)
        case .store(let key):
            guard try findings(of: [key])[key] != .missing, try files.hasFile(key) else {
                throw StorageFailure.missing
            }
            try migrate(key)
            let connection = try Connection(path: files.path(of: key), mode: .readOnly)
            return try connection.snapshot { try body(StoreRowReader($0).rows()) }
        }
    }

    package func takeRows<Value: Sendable>(
        of part: CopiedPart, _ body: (TakenRows) throws -> Value
    ) throws -> Value {
        switch part {
        case .catalog(let container):
            return try sqliteCatalog.takeRows(of: container, body)
        case .store(let key):
            guard try sqliteCatalog.container(key.container) == nil else {
                throw CatalogRefusal.containerExists
            }
            try FileSystem.makeFolder(files.location(of: key))
            let value = try take(at: files.path(of: key), body)
            try files.synchronizeFolders(above: key)
            try FileSystem.synchronize(files.folder)
            return value
        }
    }

    private func take<Value>(
        at path: String, _ body: (TakenRows) throws -> Value
    ) throws -> Value {
        let connection = try Connection(path: path, mode: .readWrite)
        try connection.execute("PRAGMA wal_autocheckpoint = \(Self.takenLogPages)")
        try Schemas.store.migrate(connection)
        let value = try body(StoreRowTaker(connection, random: options.random).taking())
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return value
    }

    /// How far the log grows before it is written back into the file.
    private static let takenLogPages = 4_096

    package func beginLife(of key: StoreKey) throws {
        try SQLiteStore.beginIncarnation(at: files.path(of: key), random: options.random)
        forget(key)
    }
}
