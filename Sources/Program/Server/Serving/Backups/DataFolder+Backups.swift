import AssetStorage
import Backups
import CloudModel
import Files
import Storage

/// What came of making a backup.
package struct MadeBackup: Sendable {
    /// A line for each asset or store that is missing or damaged.
    package let problems: [String]
    package let storedBytes: Int
}

/// What the parts of a data folder are called in a backup.
enum BackupPartName {
    static let catalog = "catalog"
    private static let store = "store/"
    private static let file = "file/"

    static func of(_ key: StoreKey) -> String {
        "\(store)\(key.environment.rawValue)/\(key.container.name)"
    }

    static func ofFile(_ name: String) -> String { file + name }

    /// The store that a part is; nil for another part.
    static func key(_ name: String) -> StoreKey? {
        guard name.hasPrefix(store) else { return nil }
        let parts = name.dropFirst(store.count).split(separator: "/", maxSplits: 1)
        guard parts.count == 2, let environment = Environment(rawValue: String(parts[0])),
            let container = ContainerID(String(parts[1]))
        else { return nil }
        return StoreKey(container, environment)
    }
}

// Backups that share what has not changed.
extension DataFolder {
    /// What is copied beside the databases.
    ///
    /// The key of sealed secrets is not: who has it opens what a backup holds.
    static let backedUpFiles = [auditName, SecretKeys.noteName]

    /// Makes a backup, also while the folder is in use, and removes those that are not kept any longer.
    ///
    /// - Parameter goesOn: asked again and again; false ends it, and there is no backup.
    /// - Throws: `BackupFailure`, `EngineFault`, and what reading or storing throws.
    package func makeBackup(
        in repository: BackupRepository, while goesOn: @escaping @Sendable () -> Bool
    ) throws -> MadeBackup {
        let turn = BackupTarget.turnName
        try repository.takeTurn(noted: FolderTurn.read(turn, in: path)) {
            try FolderTurn.write($0, to: turn, in: path)
        }
        let new = try repository.begin(
            at: clock.now(), version: ProgramVersion.text, while: goesOn)
        let problems = try stores.forEachToCopy {
            try add($0, to: new)
        } catalog: { isWhole in
            try add(.catalog, BackupPartName.catalog, to: new, assets: nil)
            return try isWhole()
        }
        for name in Self.backedUpFiles { try addFile(name, to: new) }
        try exchangeErasures()
        let ledger = "\(path)/\(ErasureLedger.fileName)"
        if try FileSystem.kind(of: ledger) == .file {
            try repository.putErasures(try FileSystem.contents(of: ledger, bytesMax: 1 << 30))
        }
        let stored = try new.finish()
        try repository.sweep(now: clock.now())
        return MadeBackup(problems: problems, storedBytes: stored)
    }

    private func add(_ key: StoreKey, to new: NewBackup) throws -> [String] {
        let assetStore = stores.assetStore(of: key)
        return try assetStore.claims.withoutRemoval {
            try add(
                .store(key), BackupPartName.of(key), to: new,
                assets: assetLocations.staysOutOfBackups ? nil : assetStore.storage)
        }.map { "\(key.container.name) \(key.environment.rawValue): \($0)" }
    }

    @discardableResult
    private func add(
        _ part: EnginePart, _ name: String, to new: NewBackup, assets: (any AssetBlobStore)?
    ) throws -> [String] {
        let problems = try engine.read(part, unless: new.previousMark(of: name)) { image in
            try new.add(
                name, mark: image.mark,
                NewBackup.Source(
                    assets: assets.map { NewBackup.Assets(storage: $0, page: image.assets) },
                    read: image.read))
        }
        if problems == nil { new.keep(name) }
        return problems ?? []
    }

    private func addFile(_ name: String, to new: NewBackup) throws {
        let file = "\(path)/\(name)"
        guard try FileSystem.kind(of: file) == .file else { return }
        _ = try new.add(
            BackupPartName.ofFile(name), mark: nil,
            NewBackup.Source { offset, count in
                try FileSystem.contents(of: file, at: offset, bytesMax: count)
            })
    }
}
