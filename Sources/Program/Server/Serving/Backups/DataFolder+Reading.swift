import Administration
import CloudModel
import Configuration
import Control
import Files
import Storage

// What a backup holds, looked at without restoring it into the server's place.
extension DataFolder {
    static let readingPrefix = "reading-"

    package func readBackup<Result>(
        _ request: BackupRequest, _ body: (OpenedBackup) throws -> Result
    ) throws -> Result {
        let source = request.source ?? configuration.backups.to
        guard !source.isEmpty else {
            throw RestoreRefusal("name a backup with --from: this server makes none by itself")
        }
        guard source.hasPrefix("/") || source.hasPrefix(BackupSettings.bucketStart) else {
            throw RestoreRefusal("--from takes a whole path, or s3://BUCKET/PREFIX")
        }
        let target = "\(path)/\(Self.readingPrefix)\(random.number())"
        return try configuration.withScratchData(in: target, random: random) { own in
            try read(request, from: source, own, body)
        }
    }

    private func read<Result>(
        _ request: BackupRequest, from source: String, _ own: ServerConfiguration,
        _ body: (OpenedBackup) throws -> Result
    ) throws -> Result {
        let target = own.data
        // A file that is missing is named when a record needs it.
        _ = try Self.restoreFiles(
            from: source, at: request.moment, own, process, while: request.goesOn,
            of: { request.wants($0.container) }, ifAdmitted: requireRoom)
        // The key that seals secrets is in no backup, and nothing that it seals is looked at.
        FileSystem.removeFile("\(target)/\(SecretKeys.noteName)")
        try exchangeErasures()
        try ErasureLedger(in: target).add(ErasureLedger(in: path).entries())
        guard
            let folder = try Self.open(
                target, configuration: own, process: process, isScratch: true,
                onIndeterminate: { (_: String) in })
        else { throw CommandFailure("\(target) is in use") }
        defer { folder.close() }
        try request.requireNotErased(
            Dictionary(
                try ErasureLedger(in: target).entries().map { ($0.account, $0.moment) },
                uniquingKeysWith: max), in: folder, here: self)
        if try folder.deleteErasedAgain() > 0 {
            try UnfinishedDeletions(in: folder, while: request.goesOn).removeRecords()
        }
        return try body(
            OpenedBackup(
                folder, files: FolderFiles(in: "\(target)/restored", while: request.goesOn)))
    }

    /// Refuses a backup that would leave the server without the room that it keeps free.
    ///
    /// - Parameter bytes: what lies beside the data while the backup is open.
    private func requireRoom(for bytes: Int64) throws {
        // A database's disk is not this machine's.
        guard configuration.storage.engine == .sqlite else { return }
        let room = try DiskRoom(of: path, configuration)
        let free = max(0, room.freeBytes - room.floorBytes)
        guard bytes > free else { return }
        throw RestoreRefusal(
            "what is wanted of the backup takes \(bytes) bytes below the data folder for as long as this lasts, "
                + "and the disk has \(free) bytes for it, beside \(room.floorBytes) that stay free")
    }
}
