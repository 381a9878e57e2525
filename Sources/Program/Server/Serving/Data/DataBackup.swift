import Administration
import AssetStorage
import CloudModel
import Control
import Files
import Storage

/// Copies a data folder while it is in use, and makes one out of such a copy.
///
/// A copy has the layout of `CopyLayout`. Stores are copied first and the catalog last, so that whatever a store refers
/// to is in the catalog.
struct DataBackup {
    /// A folder of this name is there until what is restored beside it is whole.
    private static let restoringName = "restoring"

    static func restoringPath(in folder: String) -> String { "\(folder)/\(restoringName)" }

    private static let containersName = "containers"
    /// What may lie in a data folder that counts as empty.
    private static let ownNames: Set = [
        "lock", "control.sock", "reserve", AssetLocations.ownerName, restoringName,
        ErasureLedger.fileName, BackupTarget.ownerName, SecretKeys.fileName, SecretKeys.noteName,
        DataFolder.auditName, DataFolder.auditIndexName,
    ]

    /// Copies a folder's databases and assets.
    ///
    /// - Returns: what could not be copied because it is not there or damaged; everything else is.
    /// - Throws: `CommandFailure`, `EngineFault`, `AssetFailure`.
    static func copy(
        _ folder: DataFolder, to copy: any BackupDestination
    ) throws -> [String] {
        let problems = try folder.stores.forEachToCopy {
            try self.copy($0, of: folder, to: copy)
        } catalog: { isWhole in
            try read(.catalog, of: folder) { image in
                guard try isWhole() else { return false }
                try send(image, .catalog, of: folder, to: copy)
                return true
            }
        }
        try folder.exchangeErasures()
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
        return try assetStore.claims.withoutRemoval {
            try read(.store(key), of: folder) { image in
                try send(image, .store(key), of: folder, to: copy)
                guard !folder.assetLocations.staysOutOfBackups else {
                    return try missingAssets(of: key, image, from: assetStore.storage)
                }
                if let folder = FileSystem.parent(of: assets) { try FileSystem.makeFolder(folder) }
                let copying = AssetCopying(
                    key, from: assetStore.storage,
                    to: folder.assetLocations.backupStorage(of: key, in: copy.path))
                var last: AssetDigest?
                while true {
                    let page = try image.assets(after: last, limit: assetsPerPage)
                    for row in page {
                        try copying.copy(row)
                        try copy.handOverFiles(below: assets)
                    }
                    last = page.last?.content.digest
                    guard page.count == assetsPerPage else { return copying.problems }
                }
            }
        }
    }

    /// Has `body` read a part.
    ///
    /// - Throws: `CommandFailure` that names a part that cannot be read, and what `body` throws.
    private static func read<Value>(
        _ part: EnginePart, of folder: DataFolder, _ body: (any PartImage) throws -> Value
    ) throws -> Value {
        do { return try folder.engine.read(part, body) } catch let error as any EngineFault {
            let location = folder.engineWords.location(part)
            throw CommandFailure("\(location) cannot be copied: \(error)")
        }
    }

    /// Reads a part through, and sends its bytes.
    private static func send(
        _ image: any PartImage, _ part: EnginePart, of folder: DataFolder,
        to copy: any BackupDestination
    ) throws {
        let problems = try image.problems()
        guard problems.isEmpty else {
            let location = folder.engineWords.location(part)
            throw CommandFailure("\(location) is damaged: \(problems.joined(separator: "; "))")
        }
        try copy.stream(CopyLayout(folder.engineWords).name(of: part)) { write in
            var offset: Int64 = 0
            while true {
                let bytes = try image.read(at: offset, count: CopyLayout.pieceBytes)
                try write(bytes)
                offset += Int64(bytes.count)
                guard bytes.count == CopyLayout.pieceBytes else { return }
            }
        }
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
        factory: any EngineFactory, of isWanted: (StoreKey) -> Bool = { _ in true }
    ) throws -> [String] {
        let restoring = restoringPath(in: path)
        // One that was killed has left `restoring`, and may have moved the containers already.
        let isAgain =
            try FileSystem.kind(of: restoring) != nil
            && !factory.hasData()
        let hasContainers = try !containers(in: path).isEmpty
        let foreign = try FileSystem.names(in: path).filter {
            !ownNames.contains($0) && !($0 == containersName && (isAgain || !hasContainers))
                && !(isAgain && $0.hasPrefix(factory.words.catalog))
        }
        guard foreign.isEmpty else {
            throw CommandFailure("\(path) is not empty; restore takes an empty data folder")
        }
        try source.requireBackup()
        if isAgain { try removeContainers(in: path) }
        do {
            // It says that what lies beside it is not whole.
            try FileSystem.removeTree(restoring)
            try FileSystem.makeFolder(restoring)
            try FileSystem.synchronize(path)
            // First: from here on no start serves who was erased.
            try ErasureLedger(in: path).add(source.erasures())
            var problems: [String] = []
            for key in try source.stores() where isWanted(key) {
                problems += try source.restore(key, assets: assets.storage(of: key, in: path))
            }
            for name in [SecretKeys.fileName, SecretKeys.noteName, DataFolder.auditName] {
                guard try source.restoreFile(name, to: "\(restoring)/\(name)") else { continue }
                FileSystem.removeFile("\(path)/\(name)")
                try FileSystem.move("\(restoring)/\(name)", to: "\(path)/\(name)")
            }
            // Last: a folder without a catalog is no data folder yet.
            try source.restoreCatalog()
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
        if try !factory.hasData() { try removeContainers(in: path) }
        try FileSystem.removeTree(restoringPath(in: path))
    }

    /// What a folder of containers has beside the mark of one that processes share.
    private static func containers(in path: String) throws -> [String] {
        let folder = "\(path)/\(containersName)"
        guard try FileSystem.kind(of: folder) != nil else { return [] }
        return try FileSystem.names(in: folder).filter { $0 != AssetLocations.markName }
    }

    /// Removes the containers, and their folder where it has no mark and no file system is mounted there.
    private static func removeContainers(in path: String) throws {
        let folder = "\(path)/\(containersName)"
        for name in try containers(in: path) { try FileSystem.removeTree("\(folder)/\(name)") }
        FileSystem.removeEmptyFolder(folder)
    }

    /// The assets of a copied store's rows that its storage does not list, or not in full length.
    private static func missingAssets(
        of key: Stores.Key, _ image: any PartImage, from storage: any AssetBlobStore
    ) throws -> [String] {
        // Files that are too new for a row do not belong to the copy.
        let rows = { try image.assets(after: $0, limit: $1) }
        return try AssetCheck(rows: rows, storage: storage, strayBefore: .min)
            .listedProblems().map { "\(key.container.name) \(key.environment.rawValue): \($0)" }
    }

    private static let assetsPerPage = 1_000
}
