import AssetStorage
import Backups
import CloudModel
import Configuration
import Control
import Files

// Whether a backup can be restored: by restoring it.
extension DataFolder {
    static let verifyingPrefix = "verifying-"

    /// Restores a backup into a folder of its own below the data folder, checks that, and removes it.
    ///
    /// - Parameter goesOn: asked again and again while it restores; false ends that.
    /// - Returns: what is wrong with it, each in a line; empty when nothing is.
    /// - Throws: `CommandFailure`, `BackupFailure`, and what restoring throws.
    package static func verifyBackup(
        _ source: String, _ configuration: ServerConfiguration, _ process: ProcessEnvironment,
        while goesOn: @escaping @Sendable () -> Bool = { true }
    ) throws -> [String] {
        let above = configuration.data
        let isMade = try FileSystem.kind(of: above) == nil
        if isMade { try FileSystem.makeFolder(above) }
        let target = "\(above)/\(verifyingPrefix)\(process.random.number())"
        // What a server has put there meanwhile stays.
        defer { if isMade { FileSystem.removeEmptyFolder(above) } }
        let hasAssets = configuration.s3.bucket.isEmpty || configuration.s3.backups == .copied
        return try configuration.withScratchData(in: target, random: process.random) { own in
            try problems(restoring: source, hasAssets: hasAssets, own, process, while: goesOn)
        }
    }

    private static func problems(
        restoring source: String, hasAssets: Bool, _ own: ServerConfiguration,
        _ process: ProcessEnvironment, while goesOn: @escaping @Sendable () -> Bool
    ) throws -> [String] {
        let target = own.data
        var problems = try restoreFiles(from: source, at: nil, own, process, while: goesOn)
        // The key that seals secrets is in no backup, and nothing that it seals is looked at.
        FileSystem.removeFile("\(target)/\(SecretKeys.noteName)")
        guard
            let folder = try open(
                target, configuration: own, process: process, isScratch: true,
                onIndeterminate: { (_: String) in })
        else { throw CommandFailure("\(target) is in use") }
        defer { folder.close() }
        problems += try folder.problems().filter { hasAssets || !$0.contains("missing asset") }
        return problems
    }

    /// Removes what a process has left that ended while it checked or read a backup.
    static func removeUnfinishedChecks(in folder: String) throws {
        for name in try FileSystem.names(in: folder)
        where name.hasPrefix(verifyingPrefix) || name.hasPrefix(readingPrefix) {
            try FileSystem.removeTree("\(folder)/\(name)")
        }
    }
}
