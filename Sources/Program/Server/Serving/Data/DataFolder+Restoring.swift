import Administration
import CloudModel
import Configuration
import Control
import Files
import Storage

/// What came of filling a folder from a backup.
package struct Restored {
    /// A line for each asset that the backup does not have whole.
    package let problems: [String]
    /// How many accounts were erased again, because they had been erased since the backup was made.
    package let erasedAgain: Int
}

// A data folder out of a backup.
extension DataFolder {
    /// Fills an empty data folder, which is made where there is none, from a backup.
    ///
    /// - Parameters:
    ///   - source: the folder of a copy; or the folder, or the bucket, of backups that a server has made by itself.
    ///   - moment: of the latter, the last one of that time or before is taken; nil for the last of all.
    /// - Throws: `CommandFailure`, and what the databases report; then nothing is left behind.
    package static func restore(
        from source: String, at moment: Milliseconds? = nil, _ configuration: ServerConfiguration,
        _ process: ProcessEnvironment
    ) throws -> Restored {
        let problems = try restoreFiles(from: source, at: moment, configuration, process)
        try shareOwner(configuration, process)
        guard try !ErasureLedger(in: configuration.data).entries().isEmpty else {
            return Restored(problems: problems, erasedAgain: 0)
        }
        do {
            let erased = try eraseAgain(configuration, process)
            return Restored(problems: problems, erasedAgain: erased)
        } catch let failure as CommandFailure {
            // The folder cannot be opened yet, as long as its key lies elsewhere. Each start erases again, too.
            let left = "people who were erased since are erased again at the next start: \(failure)"
            return Restored(problems: problems + [left], erasedAgain: 0)
        }
    }

    /// Has all processes of a restored database own the bucket as this folder does, which has brought the files there.
    private static func shareOwner(
        _ configuration: ServerConfiguration, _ process: ProcessEnvironment
    ) throws {
        guard configuration.storage.engine != .sqlite, !configuration.s3.bucket.isEmpty else {
            return
        }
        let (path, random) = (configuration.data, process.random)
        let factory = try configuration.engineFactory(for: path) { random.bytes($0) }
        var options = EngineOptions(
            clock: process.clock, random: { random.bytes($0) }, report: { _, _ in },
            onIndeterminate: { _ in })
        options.assets = try AssetLocations.name(configuration, of: path, random: random)
        let engine = try factory.open(options)
        defer { engine.close() }
        try AssetLocations.owner(path, random, of: engine.catalog)
    }

    private static func eraseAgain(
        _ configuration: ServerConfiguration, _ process: ProcessEnvironment
    ) throws -> Int {
        let folder = try open(
            configuration.data, configuration: configuration, process: process
        ) { _ in }
        guard let folder else { throw CommandFailure("\(configuration.data) is in use") }
        defer {
            folder.close()
            FolderAccess.giveToOwner(of: configuration.data)
        }
        let erased = try folder.deleteErasedAgain()
        if erased > 0 { try UnfinishedDeletions(in: folder).finish() }
        return erased
    }

    /// - Parameters:
    ///   - isWanted: which stores are restored.
    ///   - admit: told how many bytes they take, before anything is written.
    static func restoreFiles(
        from source: String, at moment: Milliseconds?, _ configuration: ServerConfiguration,
        _ process: ProcessEnvironment, while goesOn: @escaping @Sendable () -> Bool = { true },
        of isWanted: (StoreKey) -> Bool = { _ in true },
        ifAdmitted admit: ((Int64) throws -> Void)? = nil
    ) throws -> [String] {
        let path = configuration.data
        let random = process.random
        let assets = try AssetLocations(
            configuration, of: path, clock: process.clock, random: random)
        let factory = try configuration.engineFactory(for: path) { random.bytes($0) }
        let backups = try BackupTarget(source, configuration, clock: process.clock, random: random)
        let found: any RestoreSource
        if try backups.hasBackups() {
            found = try RepositoryBackup(
                backups.open(), at: moment ?? .max, factory: factory, while: goesOn)
        } else {
            guard moment == nil else {
                throw CommandFailure(
                    "--at is for backups that a server made by itself; \(source) is a copy")
            }
            found = PlainCopy(path: source, factory: factory, assets: assets)
        }
        if let admit {
            try found.requireBackup()
            try admit(
                found.stores().filter(isWanted).reduce(0) { try $0 + found.byteCount(of: $1) })
        }
        try make(path)
        defer { FolderAccess.giveToOwner(of: path) }
        let lock: FileLock
        do {
            lock = try FileLock(path: lockPath(in: path))
        } catch {
            throw CommandFailure("\(path) is in use: \(error)")
        }
        return try withExtendedLifetime(lock) {
            try DataBackup.restore(
                found, into: path, assets: assets, factory: factory, of: isWanted)
        }
    }
}
