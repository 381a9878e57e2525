import CatalogSQL
import Dispatch
import SQLite
import Storage
import StoredRows
import Synchronization

/// The catalog in one SQLite file.
///
/// Reads and writes go through a connection each, so that a read never waits for a commit to reach
/// the disk. Anyone who opens it holds the lock on the data folder: no other process writes the file.
package final class SQLiteCatalog: SQLCatalog {
    package let path: String
    private let reader: Mutex<SQLiteCatalogSession>
    private let writer: Mutex<Writer>
    private let onIndeterminate: @Sendable (String) -> Void
    /// At least what is on disk: this process is the only one that writes.
    private let knownVersion: Atomic<Int>

    /// How far the log may grow before it is written back into the file.
    private static let logPagesMax = 256
    private static let cacheKiB = 1_024

    /// Opens the file, making it or bringing it to this server's schema.
    ///
    /// - Parameters:
    ///   - path: of `catalog.sqlite`; its folder exists.
    ///   - fileSystem: the virtual file system by its SQLite name; nil is the system's.
    ///   - onIndeterminate: called when a commit's outcome is unknown; the process must end.
    /// - Throws: `MigrationError` for a file that is not this version's, `SQLiteError`.
    package init(
        path: String, fileSystem: String? = nil,
        onIndeterminate: @escaping @Sendable (String) -> Void
    ) throws {
        let writing = try Connection(
            path: path, mode: .readWrite, cacheKiB: SQLiteCatalog.cacheKiB, fileSystem: fileSystem)
        try writing.execute("PRAGMA wal_autocheckpoint = \(SQLiteCatalog.logPagesMax)")
        try Schemas.catalog.migrate(writing)
        knownVersion = Atomic(try SQLiteCatalog.version(in: path, fileSystem))
        self.path = path
        self.onIndeterminate = onIndeterminate
        writer = Mutex(Writer(session: SQLiteCatalogSession(connection: writing)))
        reader = Mutex(
            SQLiteCatalogSession(
                connection: try Connection(
                    path: path, mode: .readOnly, cacheKiB: SQLiteCatalog.cacheKiB,
                    fileSystem: fileSystem)))
    }

    package var version: Int { knownVersion.load(ordering: .acquiring) }

    /// One process has the catalog to itself.
    package func check(_ lease: LeaderLease, in catalog: CatalogConnection) throws {}

    package func removeCopies() throws { try Migrator.removeCopies(of: path) }

    /// Moves the log into the file, so that the file alone is all of the catalog.
    package func checkpoint() throws {
        try writer.withLock { try $0.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Moves the log into the file and truncates it; whether nothing is left in it.
    func emptyLog() -> Bool {
        writer.withLock {
            $0.connection.emptyLog { DispatchTime.now().uptimeNanoseconds }
        }
    }

    private static func version(in path: String, _ fileSystem: String?) throws -> Int {
        let connection = try Connection(path: path, mode: .readOnly, fileSystem: fileSystem)
        let row = try connection.prepare("SELECT version FROM catalog_version WHERE id = 0")
        defer { row.reset() }
        guard try row.step() else { throw InvalidRow(table: "catalog_version") }
        return Int(clamping: row.int64(0))
    }

    package func read<Outcome: Sendable>(
        _ body: (CatalogConnection) throws -> Outcome
    ) throws -> Outcome {
        try reader.withLock { try body(CatalogConnection($0)) }
    }

    @discardableResult
    package func write<Outcome: Sendable>(
        endsWhatWasTrue: Bool, _ body: (CatalogConnection) throws -> Outcome
    ) throws -> Outcome {
        // After a failed commit nobody knows what is on disk, so caches are dropped then, too.
        defer { if endsWhatWasTrue { knownVersion.add(1, ordering: .releasing) } }
        return try writer.withLock { writer in
            guard !writer.isIndeterminate else { throw StorageFailure.indeterminate }
            let connection = writer.connection
            do {
                try connection.execute("BEGIN IMMEDIATE")
                let catalog = CatalogConnection(writer.session)
                let outcome = try body(catalog)
                if endsWhatWasTrue {
                    try catalog.run(
                        "UPDATE catalog_version SET version = ? WHERE id = 0",
                        .integer(Int64(version + 1)))
                }
                try commit(&writer)
                return outcome
            } catch {
                connection.rollBack()
                if let error = error as? SQLiteError, error.kind == .full {
                    throw StorageFailure.full
                }
                throw error
            }
        }
    }

    /// Ends the transaction; after any failure but a full disk only the files can tell how.
    private func commit(_ writer: inout Writer) throws {
        do {
            try writer.connection.execute("COMMIT")
        } catch let error as SQLiteError where error.kind != .full {
            writer.isIndeterminate = true
            onIndeterminate("\(error)")
            throw StorageFailure.indeterminate
        }
    }

    private struct Writer {
        let session: SQLiteCatalogSession
        /// Set once a commit's outcome is unknown; then nothing more is written.
        var isIndeterminate = false

        var connection: Connection { session.connection }
    }
}
