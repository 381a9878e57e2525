import Backups
import CloudModel
import Configuration
import Control
import Cryptography
import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where backups are kept and by which key they are sealed, as the settings say.
package struct BackupTarget: Sendable {
    /// The file with the data folder's name for itself: no two servers make backups in one place.
    static let ownerName = "backup-owner"

    package let name: String
    let objects: any BackupObjects
    let key: BackupKey
    private let random: RandomSource

    /// - Parameter name: a folder's absolute path, or `s3://BUCKET/PREFIX`.
    /// - Throws: `CommandFailure` for a key or a bucket that cannot be used.
    package init(
        _ name: String, _ configuration: ServerConfiguration, clock: Clock, random: RandomSource
    ) throws {
        self.name = name
        self.random = random
        key = try Self.key(configuration.backups.keyFile, random)
        guard name.hasPrefix(BackupSettings.bucketStart) else {
            objects = FolderObjects(path: name)
            return
        }
        let parts = name.dropFirst(BackupSettings.bucketStart.count).split(
            separator: "/", maxSplits: 1)
        var settings = configuration.s3
        settings.bucket = parts.first.map { String($0) } ?? ""
        guard
            let bucket = try AssetLocations.bucket(settings, clock: clock, random: random)
        else { throw CommandFailure("\(name) names no bucket") }
        objects = BucketObjects(bucket, prefix: parts.count == 2 ? "\(parts[1])/" : "")
    }

    /// What the settings name; nil where backups are off.
    ///
    /// - Throws: `CommandFailure`, also for assets that are encrypted here and would lie open there.
    package init?(
        of configuration: ServerConfiguration, clock: Clock, random: RandomSource
    ) throws {
        guard !configuration.backups.to.isEmpty else { return nil }
        try self.init(configuration.backups.to, configuration, clock: clock, random: random)
        guard configuration.assets.keyFile.isEmpty || !configuration.backups.keyFile.isEmpty else {
            throw CommandFailure(
                "backups.keyFile: assets.keyFile encrypts assets, which would lie open in the backups; name a key"
            )
        }
    }

    /// Opens the backups that are there.
    package func open() throws -> BackupRepository {
        try BackupRepository(objects, key: key, random: random)
    }

    /// Opens the backups of a data folder, or begins them.
    func open(for folder: DataFolder) throws -> BackupRepository {
        try BackupRepository(
            objects, key: key, random: random,
            owner: FolderName.read(Self.ownerName, in: folder.path, random))
    }

    /// The file with what a data folder notes of the run that it has begun last.
    static let turnName = "backup-turn"

    /// Whether there are backups, rather than a copy made by `backup DEST`.
    func hasBackups() throws -> Bool {
        try name.hasPrefix(BackupSettings.bucketStart) || BackupRepository.isThere(objects)
    }

    /// Whether a disk that fails takes the data and the backups with it.
    func isOnDisk(of path: String) -> Bool {
        guard !name.hasPrefix(BackupSettings.bucketStart) else { return false }
        var (data, backups) = (stat(), stat())
        var folder = name
        while stat(folder, &backups) != 0 {
            guard let above = FileSystem.parent(of: folder) else { return false }
            folder = above
        }
        return stat(path, &data) == 0 && data.st_dev == backups.st_dev
    }

    private static func key(_ path: String, _ random: RandomSource) throws -> BackupKey {
        guard !path.isEmpty else { return BackupKey(random: random) }
        let bytes = try KeyFile.bytes(of: path, named: "backups.keyFile")
        guard let key = BackupKey(bytes, random: random) else {
            throw BackupFailure("the system's cryptography fails")
        }
        return key
    }
}
