import CloudModel
import Files
import SQLite
import Storage

// Parts as bytes.
extension SQLiteEngine {
    package func read<Value>(
        _ part: EnginePart, unless mark: [UInt8]?, _ body: (any PartImage) throws -> Value
    ) throws -> Value? {
        let path = files.path(of: part)
        // Before the look: what changes meanwhile is found by the next.
        let newMark = FileMark.mark(of: path)
        if let mark, mark == newMark { return nil }
        let connection = try Connection(path: path, mode: .readOnly, cacheKiB: 256)
        let rows = try Connection(path: path, mode: .readOnly, cacheKiB: 256)
        return try connection.image { image in
            // The image may have commits that came while the log was read through: its files are looked for after that.
            try rows.snapshot { rows in
                let look = try rows.prepare("SELECT count(*) FROM sqlite_schema")
                _ = try look.step()
                look.reset()
                return try body(SQLitePartImage(image, connection, rows: rows, mark: newMark))
            }
        }
    }

    package func overwriteDeleted(
        in part: EnginePart, while goesOn: @Sendable () -> Bool
    ) throws {
        switch part {
        case .catalog: try sqliteCatalog.overwriteDeleted(while: goesOn)
        case .store(let key):
            guard let store = openStore(key) else {
                throw BrokenInvariant("what overwrites in a store has it open: \(key)")
            }
            try store.overwriteDeleted(while: goesOn)
        }
    }

    /// Removes copies of databases from before an upgrade, once nobody will want to go back any more.
    func removeOldCopies() throws {
        let moment = options.clock.now() / 1_000 - Self.copySecondsMax
        var paths = [files.catalogPath]
        try ListPage.forEach(stores) { store in
            if store.isThere { paths.append(files.path(of: store.key)) }
        }
        for copy in try paths.flatMap({ try Migrator.copies(of: $0) })
        where (FileSystem.modificationSeconds(of: copy) ?? .max) < moment {
            FileSystem.removeFile(copy)
        }
    }

    /// Time enough to find a fault of the newer version; someone so late restores a backup.
    private static let copySecondsMax: Milliseconds = 30 * 86_400
}

/// A database as a snapshot has it.
private final class SQLitePartImage: PartImage {
    let mark: [UInt8]?
    private let image: DatabaseImage
    private let connection: Connection
    private let rows: Connection

    /// - Parameters:
    ///   - connection: is in the image's snapshot.
    ///   - rows: is in a snapshot that began once the image was made.
    init(
        _ image: DatabaseImage, _ connection: Connection, rows: Connection, mark: [UInt8]?
    ) {
        self.image = image
        self.connection = connection
        self.rows = rows
        self.mark = mark
    }

    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        try image.read(at: offset, count: count)
    }

    func assets(after digest: AssetDigest?, limit: Int) throws -> [ReferencedAsset] {
        try StoredAssets.rows(rows, after: digest, limit: limit)
    }

    func problems() throws -> [String] { try connection.integrityCheck() }
}
