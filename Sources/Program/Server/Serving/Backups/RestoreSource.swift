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

    /// How many bytes a store takes, with the assets that it brings.
    func byteCount(of key: StoreKey) throws -> Int64

    /// Restores a store, and its assets.
    ///
    /// - Returns: a line for each asset that is not there whole.
    func restore(_ key: StoreKey, assets: any AssetBlobStore) throws -> [String]

    func restoreCatalog() throws

    /// - Returns: false where it has no such file.
    func restoreFile(_ name: String, to path: String) throws -> Bool
}

/// A copy made by `backup DEST`.
struct PlainCopy: RestoreSource {
    let path: String
    let factory: any EngineFactory
    let assets: AssetLocations

    private var layout: CopyLayout { CopyLayout(factory.words) }

    func requireBackup() throws {
        let catalog = layout.name(of: .catalog)
        guard try FileSystem.kind(of: "\(path)/\(catalog)") == .file else {
            throw CommandFailure("\(path) is no backup: it has no \(catalog)")
        }
        // What its engine has written last may lie in further files.
        guard try FileSystem.kind(of: DataFolder.lockPath(in: path)) == nil else {
            throw CommandFailure(
                "\(path) is a data folder and no backup: name it by --data, or copy it as a whole")
        }
    }

    func erasures() throws -> [ErasureLedger.Entry] {
        try ErasureLedger.entries(besideAndIn: path)
    }

    func stores() throws -> [StoreKey] { try layout.stores(in: path) }

    func byteCount(of key: StoreKey) throws -> Int64 {
        try FileSystem.size(of: "\(path)/\(layout.name(of: .store(key)))")
            + Self.bytes(below: AssetLocations.path(of: key, in: path))
    }

    private static func bytes(below path: String) throws -> Int64 {
        switch try FileSystem.kind(of: path) {
        case .file: FileSystem.size(of: path)
        case .folder:
            try FileSystem.names(in: path).reduce(0) { try $0 + bytes(below: "\(path)/\($1)") }
        case .other, nil: 0
        }
    }

    func restore(_ key: StoreKey, assets storage: any AssetBlobStore) throws -> [String] {
        let copying = AssetCopying(
            key, from: assets.backupStorage(of: key, in: path), to: storage)
        try restore(.store(key)) { try copying.copy($0) }
        return copying.problems
    }

    func restoreCatalog() throws {
        try restore(.catalog) { _ in }
    }

    private func restore(
        _ part: EnginePart, assets visit: (ReferencedAsset) throws -> Void
    ) throws {
        do {
            try factory.restore(
                part, from: { try layout.read(part, in: path, $0) }, assets: visit)
        } catch let error as any EngineFault {
            throw CommandFailure("\(path)/\(layout.name(of: part)): \(error)")
        }
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

    func byteCount(of key: StoreKey) throws -> Int64 {
        try contents.byteCount(of: BackupPartName.of(key))
    }

    func restore(_ key: StoreKey, assets: any AssetBlobStore) throws -> [String] {
        let name = BackupPartName.of(key)
        try restore(.store(key), name)
        try contents.copyAssets(of: name, to: assets)
        return []
    }

    func restoreCatalog() throws {
        try restore(.catalog, BackupPartName.catalog)
    }

    private func restore(_ part: EnginePart, _ name: String) throws {
        do {
            try factory.restore(
                part, from: { try contents.read(name, $0) }, assets: { _ in })
        } catch let error as any EngineFault {
            throw CommandFailure("\(name) of the backup: \(error)")
        }
    }

    func restoreFile(_ name: String, to path: String) throws -> Bool {
        let part = BackupPartName.ofFile(name)
        guard contents.names.contains(part) else { return false }
        try FileSystem.write(toNew: path) { write in try contents.read(part, write) }
        return true
    }
}
