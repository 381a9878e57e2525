import CloudModel
import Files
import SQLite
import Storage

// Copies, which have a data folder's own layout.
extension SQLiteEngine {
    package func copyBytes(of key: StoreKey) -> Int64 { FileSystem.size(of: files.path(of: key)) }

    package func copy(_ key: StoreKey, into folder: String) throws -> StoreCopy {
        let copy = StoreFiles(folder: folder).path(of: key)
        try DatabaseCopy.make(of: files.path(of: key), at: copy)
        return StoreCopy(files: [copy], assets: StoredAssets(path: copy, isCopy: true))
    }

    package func mark(of part: EnginePart) -> [UInt8]? {
        FileMark.mark(of: files.path(of: part))
    }

    package func read<Value>(
        _ part: EnginePart, _ body: (PartImage) throws -> Value
    ) throws -> Value {
        let connection = try Connection(path: files.path(of: part), mode: .readOnly, cacheKiB: 256)
        return try connection.image { image in
            try body(
                PartImage(
                    byteCount: image.byteCount, read: { try image.read(at: $0, count: $1) },
                    assets: { try StoredAssets.rows(connection, after: $0, limit: $1) }))
        }
    }

    package func overwriteDeletedInCatalog(while goesOn: @Sendable () -> Bool) throws {
        try sqliteCatalog.overwriteDeleted(while: goesOn)
    }

    package func removeCopies(madeBefore moment: Milliseconds) throws -> Int {
        let paths = try [files.catalogPath] + stores().filter(isThere).map { files.path(of: $0) }
        let old = try paths.flatMap { try Migrator.copies(of: $0) }.filter {
            (FileSystem.modificationSeconds(of: $0) ?? .max) < moment / 1_000
        }
        for copy in old { FileSystem.removeFile(copy) }
        return old.count
    }

    package func copyCatalog(into folder: String) throws -> [String] {
        let copy = StoreFiles(folder: folder).catalogPath
        try FileSystem.removeTree(copy)
        try DatabaseCopy.make(of: files.catalogPath, at: copy)
        return [copy]
    }
}

/// Keeps an engine's data in SQLite files.
package struct SQLiteEngineFactory: EngineFactory {
    private let settings: SQLiteEngine.Settings
    private let random: @Sendable (Int) -> [UInt8]

    package init(
        _ settings: SQLiteEngine.Settings, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.random = random
    }

    package var words: EngineWords {
        EngineWords(catalog: StoreFiles.catalogName, store: StoreFiles.storeName)
    }

    package func hasData(for folder: String) throws -> Bool {
        try FileSystem.kind(of: StoreFiles(folder: folder).catalogPath) == .file
    }

    package func open(
        for folder: String, _ options: EngineOptions
    ) throws -> any StorageEngine { try SQLiteEngine(folder: folder, settings, options) }

    package func stores(inBackup folder: String) throws -> [StoreKey] {
        try StoreFiles(folder: folder).found()
    }

    package func restore(
        _ key: StoreKey, fromBackup backup: String, into folder: String
    ) throws -> any AssetRows {
        let path = StoreFiles(folder: folder).path(of: key)
        try DatabaseCopy.make(
            of: StoreFiles(folder: backup).path(of: key), at: path, requiring: Schemas.store)
        try SQLiteStore.beginIncarnation(at: path, random: random)
        return StoredAssets(path: path, isCopy: true)
    }

    package func restore(
        _ part: EnginePart, into folder: String,
        from write: (_ visit: ([UInt8]) throws -> Void) throws -> Void
    ) throws {
        let path = StoreFiles(folder: folder).path(of: part)
        if let folder = FileSystem.parent(of: path) { try FileSystem.makeFolder(folder) }
        try FileSystem.write(toNew: path) { try write($0) }
        switch part {
        case .catalog: try DatabaseCopy.check(path, named: path, requiring: Schemas.catalog)
        case .store:
            try DatabaseCopy.check(path, named: path, requiring: Schemas.store)
            try SQLiteStore.beginIncarnation(at: path, random: random)
        }
    }

    package func restoreCatalog(fromBackup backup: String, into folder: String) throws {
        try DatabaseCopy.make(
            of: StoreFiles(folder: backup).catalogPath, at: StoreFiles(folder: folder).catalogPath,
            requiring: Schemas.catalog)
    }

    package func finishRestoring(from folder: String, into target: String) throws {
        try FileSystem.move(
            StoreFiles(folder: folder).catalogPath, to: StoreFiles(folder: target).catalogPath)
        try FileSystem.synchronize(target)
    }
}

/// A copy of one database.
private enum DatabaseCopy {
    /// Copies a database and reads the copy through.
    ///
    /// - Parameter migrator: what must be able to bring the copy to this version.
    static func make(
        of source: String, at copy: String, requiring migrator: Migrator? = nil
    ) throws {
        if let folder = FileSystem.parent(of: copy) { try FileSystem.makeFolder(folder) }
        do { try Backup().copy(source, to: copy) } catch {
            throw FileSystemFailure("\(source) cannot be copied: \(error)")
        }
        try check(copy, named: source, requiring: migrator)
    }

    /// Reads a copy through.
    static func check(
        _ copy: String, named source: String, requiring migrator: Migrator?
    ) throws {
        defer { removeReadersFiles(beside: copy) }
        let problems = try Connection(path: copy, mode: .readOnly).integrityCheck()
        guard problems.isEmpty else {
            throw FileSystemFailure("\(source) is damaged: \(problems.joined(separator: "; "))")
        }
        do {
            _ = try migrator?.pendingCount(Connection(path: copy, mode: .readOnly))
        } catch let error as MigrationError {
            throw FileSystemFailure("\(source): \(error)")
        }
    }

    /// What reading leaves beside a file; a copy is whole without.
    static func removeReadersFiles(beside path: String) {
        for suffix in ["-wal", "-shm"] { FileSystem.removeFile(path + suffix) }
    }
}

extension StoredAssets: AssetRows {
    package func page(after: AssetDigest?, limit: Int) throws -> [AssetRow] {
        defer { if isCopy { DatabaseCopy.removeReadersFiles(beside: path) } }
        return try rows(after: after, limit: limit)
    }
}
