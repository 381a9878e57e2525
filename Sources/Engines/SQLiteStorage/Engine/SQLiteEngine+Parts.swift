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
        return try connection.image { image in
            try body(SQLitePartImage(connection, image, mark: newMark))
        }
    }

    package func overwriteDeletedInCatalog(while goesOn: @Sendable () -> Bool) throws {
        try sqliteCatalog.overwriteDeleted(while: goesOn)
    }

    package func removeCopies(madeBefore moment: Milliseconds) throws -> Int {
        var paths = [files.catalogPath]
        try ListPage.forEach(stores) { store in
            if try isThere(store.key) { paths.append(files.path(of: store.key)) }
        }
        let old = try paths.flatMap { try Migrator.copies(of: $0) }.filter {
            (FileSystem.modificationSeconds(of: $0) ?? .max) < moment / 1_000
        }
        for copy in old { FileSystem.removeFile(copy) }
        return old.count
    }
}

/// A database as a snapshot has it.
private final class SQLitePartImage: PartImage {
    let mark: [UInt8]?
    private let connection: Connection
    private let image: DatabaseImage

    /// - Precondition: the connection is in the image's snapshot.
    init(_ connection: Connection, _ image: DatabaseImage, mark: [UInt8]?) {
        self.connection = connection
        self.image = image
        self.mark = mark
    }

    var byteCount: Int64 { image.byteCount }

    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        try image.read(at: offset, count: count)
    }

    func assets(after digest: AssetDigest?, limit: Int) throws -> [AssetRow] {
        try StoredAssets.rows(connection, after: digest, limit: limit)
    }

    func problems() throws -> [String] { try connection.integrityCheck() }
}
