import AssetStorage
import Backups
import CloudModel
import Control
import Files
import Storage

/// What a data folder is filled from.
protocol RestoreSource {
    /// - Throws: `CommandFailure` where there is nothing to restore.
    func requireBackup() throws

    /// Who was erased, as far as anybody knows there.
    func erasures() throws -> [ErasureLedger.Entry]

    func stores() throws -> [StoreKey]

    /// Puts a store together below a folder, and its assets in their place.
    ///
    /// - Returns: a line for each asset that is not there whole.
    func restore(
        _ key: StoreKey, into folder: String, assets: any AssetBlobStore
    ) throws -> [String]

    func restoreCatalog(into folder: String) throws

    /// - Returns: false where it has no such file.
    func restoreFile(_ name: String, to path: String) throws -> Bool
}

/// A copy made by `backup DEST`, which has a data folder's own layout.
struct PlainCopy: RestoreSource {
    let path: String
    let factory: any EngineFactory
    let assets: AssetLocations

    func requireBackup() throws {
        guard try factory.hasData(for: path) else {
            throw CommandFailure("\(path) is no backup: it has no \(factory.words.catalog)")
        }
    }

    func erasures() throws -> [ErasureLedger.Entry] {
        try ErasureLedger.entries(besideAndIn: path)
    }

    func stores() throws -> [StoreKey] { try factory.stores(inBackup: path) }

    func restore(
        _ key: StoreKey, into folder: String, assets storage: any AssetBlobStore
    ) throws -> [String] {
        let rows = try factory.restore(key, fromBackup: path, into: folder)
        return try DataBackup.copyAssets(
            of: key, rows, from: assets.backupStorage(of: key, in: path), to: storage)
    }

    func restoreCatalog(into folder: String) throws {
        try factory.restoreCatalog(fromBackup: path, into: folder)
    }

    func restoreFile(_ name: String, to target: String) throws -> Bool {
        try FileSystem.copy("\(path)/\(name)", toNew: target)
    }
}

/// One of the backups that the server makes by itself.
struct RepositoryBackup: RestoreSource {
    private let repository: BackupRepository
    private let contents: BackupContents
    private let factory: any EngineFactory

    /// - Parameter moment: the last backup of that time or before is meant.
    /// - Throws: `BackupFailure` where there is none.
    init(
        _ repository: BackupRepository, at moment: Milliseconds, factory: any EngineFactory,
        while goesOn: @escaping @Sendable () -> Bool
    ) throws {
        guard let manifest = try repository.last(at: moment) else {
            throw BackupFailure("there is no backup from then or before")
        }
        self.repository = repository
        self.factory = factory
        contents = repository.contents(of: manifest, while: goesOn)
    }

    func requireBackup() throws {}

    /// As the last backup of all has it: those who were erased after the one that is restored are erased again.
    func erasures() throws -> [ErasureLedger.Entry] {
        ErasureLedger.entries(try repository.erasures())
    }

    func stores() throws -> [StoreKey] { contents.names.compactMap(BackupPartName.key) }

    func restore(
        _ key: StoreKey, into folder: String, assets: any AssetBlobStore
    ) throws -> [String] {
        let name = BackupPartName.of(key)
        try factory.restore(.store(key), into: folder) { try contents.read(name, $0) }
        try contents.copyAssets(of: name, to: assets)
        return []
    }

    func restoreCatalog(into folder: String) throws {
        try factory.restore(.catalog, into: folder) {
            try contents.read(BackupPartName.catalog, $0)
        }
    }

    func restoreFile(_ name: String, to path: String) throws -> Bool {
        let part = BackupPartName.ofFile(name)
        guard contents.names.contains(part) else { return false }
        try FileSystem.write(toNew: path) { write in try contents.read(part, write) }
        return true
    }
}
