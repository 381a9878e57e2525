import Administration
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
    /// - Throws: `CommandFailure`, and what the databases report; then nothing is left behind.
    package static func restore(
        from source: String, _ configuration: ServerConfiguration, _ process: ProcessEnvironment
    ) throws -> Restored {
        let problems = try restoreFiles(from: source, configuration, process)
        guard try !ErasureLedger(in: configuration.data).entries().isEmpty else {
            return Restored(problems: problems, erasedAgain: 0)
        }
        do {
            let erased = try eraseAgain(configuration, process)
            return Restored(problems: problems, erasedAgain: erased)
        } catch let failure as CommandFailure {
            // The folder cannot be opened yet, as long as its key lies elsewhere. Each start erases again, too.
            let left = "who was erased since is erased again at the next start: \(failure)"
            return Restored(problems: problems + [left], erasedAgain: 0)
        }
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

    private static func restoreFiles(
        from source: String, _ configuration: ServerConfiguration, _ process: ProcessEnvironment
    ) throws -> [String] {
        let path = configuration.data
        try make(path)
        defer { FolderAccess.giveToOwner(of: path) }
        let lock: FileLock
        do {
            lock = try FileLock(path: lockPath(in: path))
        } catch {
            throw CommandFailure("\(path) is in use: \(error)")
        }
        let random = process.random
        return try withExtendedLifetime(lock) {
            try DataBackup.restore(
                source, into: path,
                assets: AssetLocations(
                    configuration, of: path, clock: process.clock, random: random),
                factory: configuration.engineFactory { random.bytes($0) })
        }
    }
}
