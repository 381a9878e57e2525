import CloudModel
import Files
import SQLite
import Storage

/// Keeps an engine's data in SQLite files.
package struct SQLiteEngineFactory: EngineFactory {
    private static let assetsPerPage = 1_000
    /// Ends the name of a catalog that is not whole yet.
    private static let partialSuffix = ".partial"

    private let folder: String
    private let settings: SQLiteEngine.Settings
    private let random: @Sendable (Int) -> [UInt8]

    package init(
        folder: String, _ settings: SQLiteEngine.Settings,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.folder = folder
        self.settings = settings
        self.random = random
    }

    package var words: EngineWords {
        EngineWords(catalog: StoreFiles.catalogName, store: StoreFiles.storeName) { [folder] in
            StoreFiles(folder: folder).path(of: $0)
        }
    }

    package func hasData() throws -> Bool {
        try FileSystem.kind(of: StoreFiles(folder: folder).catalogPath) == .file
    }

    package func open(_ options: EngineOptions) throws -> any StorageEngine {
        try SQLiteEngine(folder: folder, settings, options)
    }

    package func restore(
        _ part: EnginePart,
        from write: (_ visit: ([UInt8]) throws -> Void) throws -> Void,
        assets visit: (ReferencedAsset) throws -> Void
    ) throws {
        let files = StoreFiles(folder: folder)
        switch part {
        case .catalog:
            // A folder without a catalog is no data folder: it has its name once it is whole.
            let partial = files.catalogPath + Self.partialSuffix
            FileSystem.removeFile(partial)
            defer { FileSystem.removeFile(partial) }
            try FileSystem.write(toNew: partial) { try write($0) }
            try check(partial, requiring: Schemas.catalog)
            try FileSystem.move(partial, to: files.catalogPath)
        case .store(let key):
            let path = files.path(of: key)
            try FileSystem.makeFolder(files.location(of: key))
            try FileSystem.write(toNew: path) { try write($0) }
            try check(path, requiring: Schemas.store)
            try SQLiteStore.beginIncarnation(at: path, random: random)
            try visitAssets(of: path, visit)
            removeReadersFiles(beside: path)
            try files.synchronizeFolders(above: key)
        }
        try FileSystem.synchronize(folder)
    }

    private func visitAssets(of path: String, _ visit: (ReferencedAsset) throws -> Void) throws {
        let connection = try Connection(path: path, mode: .readOnly)
        var last: AssetDigest?
        while true {
            let page = try StoredAssets.rows(connection, after: last, limit: Self.assetsPerPage)
            try page.forEach(visit)
            last = page.last?.content.digest
            guard page.count == Self.assetsPerPage else { return }
        }
    }

    /// Reads a restored database through.
    ///
    /// - Parameter migrator: what must be able to bring it to this version.
    private func check(_ path: String, requiring migrator: Migrator) throws {
        defer { removeReadersFiles(beside: path) }
        let problems = try Connection(path: path, mode: .readOnly).integrityCheck()
        guard problems.isEmpty else {
            throw DamagedBytes(description: "damaged: \(problems.joined(separator: "; "))")
        }
        _ = try migrator.pendingCount(Connection(path: path, mode: .readOnly))
    }

    private struct DamagedBytes: EngineFault {
        let description: String
        var finding: EngineFinding { .damaged }
    }

    /// What reading leaves beside a file that is whole without.
    private func removeReadersFiles(beside path: String) {
        for suffix in ["-wal", "-shm"] { FileSystem.removeFile(path + suffix) }
    }
}
