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
    private static let bucketStart = "s3://"

    /// The file that names a data folder, in it.
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
        guard name.hasPrefix(Self.bucketStart) else {
            objects = FolderObjects(path: name)
            return
        }
        let parts = name.dropFirst(Self.bucketStart.count).split(separator: "/", maxSplits: 1)
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
            objects, key: key, random: random, owner: BackupOwner.name(of: folder.path, random))
    }

    /// Whether there are backups, rather than a copy made by `backup DEST`.
    func hasBackups() throws -> Bool {
        try name.hasPrefix(Self.bucketStart) || BackupRepository.isThere(objects)
    }

    /// Whether a disk that fails takes the data and the backups with it.
    func isOnDisk(of path: String) -> Bool {
        guard !name.hasPrefix(Self.bucketStart) else { return false }
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
        let text = try FileSystem.contents(of: path, bytesMax: 1_024).filter {
            ![0x0A, 0x0D, 0x20].contains($0)
        }
        guard let bytes = Hexadecimal.decode(text), let key = BackupKey(bytes, random: random)
        else {
            throw CommandFailure(
                "backups.keyFile: \(path) does not hold 64 lower-case hexadecimal digits; make one with: "
                    + "openssl rand -hex 32")
        }
        return key
    }
}

/// Names a data folder, so that no two servers make backups in one place.
///
/// No backup has the name: a restored folder is
/// another one.
private enum BackupOwner {
    static func name(of folder: String, _ random: RandomSource) throws -> String {
        let path = "\(folder)/\(BackupTarget.ownerName)"
        if try FileSystem.kind(of: path) == nil {
            try FileSystem.write(
                Array("\(Hexadecimal.encode(random.bytes(16)))\n".utf8), toNew: path)
            try FileSystem.synchronize(folder)
        }
        return String(decoding: try FileSystem.contents(of: path, bytesMax: 64), as: UTF8.self)
            .filter { !$0.isWhitespace }
    }
}
