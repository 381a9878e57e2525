import Administration
import AssetStorage
import CloudModel
import Control
import Files
import Storage

/// Copies a data folder while it is in use, and makes one out of such a copy.
///
/// A copy has the data folder's own layout. Stores are copied first and the catalog last, so that
/// whatever a store refers to is in the catalog.
struct DataBackup {
    /// Under this name a restored folder grows until it is whole.
    private static let restoringName = "restoring"

    static func restoringPath(in folder: String) -> String { "\(folder)/\(restoringName)" }

    private static let containersName = "containers"
    /// What may lie in a data folder that counts as empty.
    private static let ownNames: Set = [
        "lock", "control.sock", "reserve", AssetLocations.ownerName, restoringName,
        ErasureLedger.fileName, BackupTarget.ownerName, SecretKeys.fileName, SecretKeys.noteName,
        DataFolder.auditName,
    ]

    /// Copies a folder's databases and assets.
    ///
    /// - Returns: what could not be copied because it is not there or damaged; everything else is.
    /// - Throws: `CommandFailure`, `EngineFault`, `AssetFailure`.
    static func copy(
        _ folder: DataFolder, to copy: any BackupDestination
    ) throws -> [String] {
        var catalog: [String] = []
        let problems = try folder.stores.forEachToCopy {
            try self.copy($0, of: folder, to: copy)
        } catalog: {
            catalog = try folder.engine.copyCatalog(into: copy.path)
        }
        for file in catalog { try copy.handOver(file) }
        let beside = [DataFolder.auditName, ErasureLedger.fileName]
        for name in SecretKeys.namesInBackup(folder.configuration) + beside {
            let path = "\(copy.path)/\(name)"
            guard try FileSystem.copy("\(folder.path)/\(name)", toNew: path) else { continue }
            try copy.handOver(path)
        }
        return problems
    }

    private static func copy(
        _ key: Stores.Key, of folder: DataFolder, to copy: any BackupDestination
    ) throws -> [String] {
        let assetStore = folder.stores.assetStore(of: key)
        let assets = AssetLocations.path(of: key, in: copy.path)
        let engine = folder.engine
        try copy.requireRoom(for: engine.words(for: key), bytes: engine.copyBytes(of: key))
        let (made, problems) = try assetStore.claims.withoutRemoval {
            let made = try engine.copy(key, into: copy.path)
            guard !folder.assetLocations.staysOutOfBackups else {
                return (made, try missingAssets(of: key, made.assets, from: assetStore.storage))
            }
            let problems = try copyAssets(
                of: key, made.assets, from: assetStore.storage,
                to: folder.assetLocations.backupStorage(of: key, in: copy.path),
                isCopied: { try copy.handOverFiles(below: assets) })
            return (made, problems)
        }
        for file in made.files { try copy.handOver(file) }
        return problems
    }

    /// Fills an empty data folder, whose lock the caller holds, from a copy.
    ///
    /// Every store begins a new incarnation. So nothing that was handed out after the copy was made
    /// is mistaken for what comes from now on.
    ///
    /// - Returns: assets that the copy does not have whole.
    /// - Throws: `CommandFailure` when the folder is not empty or the source is no copy,
    ///   `EngineFault`, `AssetFailure`; then nothing is left behind.
    static func restore(
        _ source: any RestoreSource, into path: String, assets: AssetLocations,
        factory: any EngineFactory
    ) throws -> [String] {
        let restoring = restoringPath(in: path)
        // One that was killed has left `restoring`, and may have moved the containers already.
        let isAgain =
            try FileSystem.kind(of: restoring) != nil
            && !factory.hasData(for: path)
        let foreign = try FileSystem.names(in: path).filter {
            !ownNames.contains($0) && !(isAgain && $0 == containersName)
        }
        guard foreign.isEmpty else {
            throw CommandFailure("\(path) is not empty; restore takes an empty data folder")
        }
        try source.requireBackup()
        if isAgain { try FileSystem.removeTree("\(path)/\(containersName)") }
        try FileSystem.removeTree(restoring)
        do {
            try FileSystem.makeFolder(restoring)
            // First: from here on no start serves who was erased.
            try ErasureLedger(in: path).add(source.erasures())
            var problems: [String] = []
            for key in try source.stores() {
                problems += try source.restore(
                    key, into: restoring, assets: assets.storage(of: key, in: restoring))
            }
            try source.restoreCatalog(into: restoring)
            let containers = "\(restoring)/\(containersName)"
            if try FileSystem.kind(of: containers) != nil {
                try FileSystem.move(containers, to: "\(path)/\(containersName)")
                try FileSystem.synchronize(path)
            }
            for name in [SecretKeys.fileName, SecretKeys.noteName, DataFolder.auditName] {
                guard try source.restoreFile(name, to: "\(restoring)/\(name)") else { continue }
                FileSystem.removeFile("\(path)/\(name)")
                try FileSystem.move("\(restoring)/\(name)", to: "\(path)/\(name)")
            }
            // Last: a folder without a catalog is no data folder yet.
            try factory.finishRestoring(from: restoring, into: path)
            try FileSystem.removeTree(restoring)
            try FileSystem.synchronize(path)
            return problems
        } catch {
            // NB: the first failure is the one to report.
            try? undo(path, factory)
            throw error
        }
    }

    /// Removes what a failed restore has made; `restoring` last, so that it stays when something else cannot go.
    private static func undo(_ path: String, _ factory: any EngineFactory) throws {
        if try !factory.hasData(for: path) {
            try FileSystem.removeTree("\(path)/\(containersName)")
        }
        try FileSystem.removeTree(restoringPath(in: path))
    }

    /// Copies the files that a copied store's rows speak of, and reads each through.
    static func copyAssets(
        of key: Stores.Key, _ rows: any AssetRows, from storage: any AssetBlobStore,
        to copy: any AssetBlobStore, isCopied: () throws -> Void = {}
    ) throws -> [String] {
        let location = "\(key.container.name) \(key.environment.rawValue)"
        var problems: [String] = []
        var last: AssetDigest?
        while true {
            let page = try rows.page(after: last, limit: assetsPerPage)
            for entry in page {
                do {
                    let digest = entry.content.digest
                    // A bucket has what a copy that was made without files speaks of.
                    let isThere = try storage.copy(digest, to: copy) || copy.open(digest) != nil
                    try isCopied()
                    if !isThere, entry.isNeeded {
                        problems.append(
                            "\(location): missing asset: \(entry.content.digest.hexadecimal)")
                    }
                } catch AssetFailure.damaged(let digest) {
                    problems.append("\(location): damaged asset: \(digest.hexadecimal)")
                }
            }
            last = page.last?.content.digest
            guard page.count == assetsPerPage else { break }
        }
        return problems
    }

    /// The assets of a copied store's rows that its storage does not list, or not in full length.
    private static func missingAssets(
        of key: Stores.Key, _ rows: any AssetRows, from storage: any AssetBlobStore
    ) throws -> [String] {
        // Files that are too new for a row do not belong to the copy.
        return try AssetCheck(rows: rows, storage: storage, strayBefore: .min)
            .listedProblems().map { "\(key.container.name) \(key.environment.rawValue): \($0)" }
    }

    private static let assetsPerPage = 1_000
}
