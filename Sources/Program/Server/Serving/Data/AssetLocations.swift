import AssetStorage
import CloudModel
import Configuration
import Control
import Cryptography
import Files
import HTTPClient
import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where the assets of each container environment are, as the settings say.
struct AssetLocations: Sendable {
    private let key: AssetKey?
    private let freeBytesMin: Int
    private let reserveBytes: Int
    private let random: RandomSource
    private let bucket: S3Bucket?
    private let s3: S3Settings
    private let ownership: S3Ownership?

    /// - Parameters:
    ///   - folder: the data folder whose assets they are.
    ///   - engine: whose processes may share them; nil for a folder alone.
    /// - Throws: `CommandFailure` for a key file that holds no key, and when the files with the S3
    ///   store's keys and certificates cannot be used.
    init(
        _ configuration: ServerConfiguration, of folder: String, clock: Clock,
        random: RandomSource, sharing engine: (any StorageEngine)? = nil
    ) throws {
        key = try Self.key(configuration.assets.keyFile)
        freeBytesMin = configuration.assets.freeBytesMin
        reserveBytes = configuration.storage.reserveBytes
        self.random = random
        s3 = configuration.s3
        bucket = try Self.bucket(configuration.s3, clock: clock, random: random)
        ownership = try Self.bucket(
            configuration.s3, isHasty: true, clock: clock, random: random
        ).map {
            guard let engine, !engine.processes.living.isEmpty else {
                return S3Ownership(
                    $0, prefix: configuration.s3.prefix, turns: Self.turns(folder, random)
                ) { () throws(AssetFailure) in try Self.owner(folder, random) }
            }
            // All processes on a database are one owner, and take no turns.
            return S3Ownership($0, prefix: configuration.s3.prefix) {
                () throws(AssetFailure) in try Self.owner(folder, random, of: engine.catalog)
            }
        }
    }

    /// What names the folder that processes share as `containers`, in that folder.
    static let markName = ".lenticular-assets"
    private static let folderPrefix = "folder "

    /// Names where a data folder's assets are, so that processes on one database see whether they share them; empty where
    /// no other process can have the data.
    static func name(
        _ configuration: ServerConfiguration, of folder: String, random: RandomSource
    ) throws -> String {
        guard configuration.storage.engine != .sqlite else { return "" }
        let s3 = configuration.s3
        guard s3.bucket.isEmpty else { return "s3 \(s3.endpoint)/\(s3.bucket)/\(s3.prefix)" }
        let containers = "\(folder)/containers"
        try FileSystem.makeFolder(containers)
        return folderPrefix + (try FolderName.read(markName, in: containers, random))
    }

    /// Refuses a folder of assets that is not the one which a database's processes have used so far, as while the file
    /// system is not mounted that has it.
    ///
    /// - Parameter name: by `name(_:of:random:)`.
    /// - Throws: `CommandFailure`, and what the catalog reports.
    static func requireSame(
        _ name: String, of folder: String, as catalog: any CatalogStorage
    ) throws {
        guard name.hasPrefix(folderPrefix) else { return }
        let own = String(name.dropFirst(folderPrefix.count))
        let known = try catalog.secret(
            LocalSecret.assetsMark.rawValue, orStore: Array(own.utf8))
        guard known != Array(own.utf8) else { return }
        throw CommandFailure(
            "\(folder)/containers is not the folder that the database knows for its assets: is it mounted? Its mark "
                + "\(markName) says \(own), and the database's is \(String(decoding: known, as: UTF8.self)). Where all "
                + "files are in this folder, write that into its mark.")
    }

    /// The name of a database's processes for themselves: of the first data folder that was asked.
    @discardableResult
    static func owner(
        _ folder: String, _ random: RandomSource, of catalog: any CatalogStorage
    ) throws(AssetFailure) -> String {
        let own = try owner(folder, random)
        do {
            let name = try catalog.secret(
                LocalSecret.bucketOwner.rawValue, orStore: Array(own.utf8))
            return String(decoding: name, as: UTF8.self)
        } catch {
            throw .system(call: ownerName, reason: "\(error)")
        }
    }

    /// Where a data folder's name for itself is kept.
    ///
    /// Copies of the folder get none: they are others.
    static let ownerName = "s3-owner"

    /// The data folder's name for itself, made when it is first asked for.
    private static func owner(
        _ folder: String, _ random: RandomSource
    ) throws(AssetFailure) -> String {
        do {
            return try FolderName.read(ownerName, in: folder, random)
        } catch {
            throw .system(call: ownerName, reason: "\(error)")
        }
    }

    private static let turnName = "s3-turn"
    private static let turnBytes = 16

    private static func turns(_ folder: String, _ random: RandomSource) -> S3TurnNote {
        S3TurnNote(
            read: { () throws(AssetFailure) in
                do { return try FolderTurn.read(turnName, in: folder) } catch {
                    throw .system(call: turnName, reason: "\(error)")
                }
            },
            write: { turns throws(AssetFailure) in
                do { try FolderTurn.write(turns, to: turnName, in: folder) } catch {
                    throw .system(call: turnName, reason: "\(error)")
                }
            }, next: { Hexadecimal.encode(random.bytes(turnBytes)) })
    }

    /// Looks to which server the bucket's prefix belongs, before anything is served.
    ///
    /// - Parameter unanswered: told when the S3 store does not answer. The server then asks again
    ///   before it writes or removes anything there.
    /// - Throws: `CommandFailure` when it is another server's.
    func confirmOwnership(unanswered: (AssetFailure) -> Void) throws {
        do throws(AssetFailure) { try ownership?.confirm() } catch {
            if case .ownedByAnother = error { throw CommandFailure("\(error)") }
            unanswered(error)
        }
    }

    /// Whether backups do without the files, because those are elsewhere.
    var staysOutOfBackups: Bool { bucket != nil && s3.backups == .listed }

    private static func key(_ path: String) throws -> AssetKey? {
        try path.isEmpty ? nil : AssetKey(KeyFile.bytes(of: path, named: "assets.keyFile"))
    }

    /// - Parameter isHasty: whether the start waits for what it answers, so not for long.
    static func bucket(
        _ settings: S3Settings, isHasty: Bool = false, clock: Clock, random: RandomSource
    ) throws -> S3Bucket? {
        guard !settings.bucket.isEmpty else { return nil }
        guard let endpoint = HTTPOrigin(settings.endpoint) else {
            throw CommandFailure(
                "s3.endpoint: \(settings.endpoint) is no http:// or https:// origin")
        }
        var options = S3Bucket.Options(endpoint: endpoint, bucket: settings.bucket)
        options.region = settings.region
        options.isPathStyle = settings.addressing == .path
        if isHasty { (options.attemptsMax, options.client.silenceMillisecondsMax) = (2, 10_000) }
        do {
            return S3Bucket(
                options, credentials: try credentials(settings.credentialsFile),
                trust: endpoint.isSecure
                    ? try ServerTrust(authoritiesFile: settings.authoritiesFile) : nil,
                context: S3Bucket.Context(
                    clock: clock, random: random, pause: { usleep(UInt32(clamping: $0 * 1_000)) }))
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("s3.authoritiesFile: \(error)")
        }
    }

    private static func credentials(_ path: String) throws -> S3Credentials {
        let text = try FileSystem.contents(of: path, bytesMax: 4_096)
        let lines = text.split { $0 == 0x0A || $0 == 0x0D }
        let isLegal =
            lines.count == 2 && lines.allSatisfy { $0.allSatisfy { 0x21...0x7E ~= $0 } }
            && !lines[0].contains(UInt8(ascii: "/")) && !lines[0].contains(UInt8(ascii: ","))
        guard isLegal else {
            throw CommandFailure(
                "s3.credentialsFile: \(path) does not hold two lines, the access key's id and the "
                    + "secret key")
        }
        return S3Credentials(
            accessKeyID: String(decoding: lines[0], as: UTF8.self), secretKey: Array(lines[1]))
    }

    /// The assets of a store below a data folder, or of a bucket.
    func storage(of key: Stores.Key, in folder: String) -> any AssetBlobStore {
        let reserve = DataFolder.reservePath(in: folder)
        let local = folderStorage(of: key, in: folder, freeBytesMin: freeBytesMin) {
            [reserveBytes] in
            // What was let go on a full disk is for deletions, and has to fit again afterwards.
            FileSystem.size(of: reserve) < Int64(reserveBytes) ? reserveBytes + reserveBytes / 4 : 0
        }
        guard let bucket else { return local }
        let environment = key.environment.rawValue
        return S3Assets(
            bucket, prefix: "\(s3.prefix)\(key.container.folded)/\(environment)/", staging: local,
            key: self.key, ownership: ownership, sendsClientsThere: s3.downloads == .redirected)
    }

    /// Removes what uploads on their way into a bucket have left in a data folder; there is nothing to do without a bucket.
    ///
    /// - Parameters:
    ///   - moment: of those that have had no more bytes since.
    ///   - goesOn: asked before each container.
    func removeAbandonedUploads(
        in folder: String, begunBefore moment: Milliseconds, while goesOn: () -> Bool
    ) throws {
        let containers = "\(folder)/containers"
        guard bucket != nil, try FileSystem.kind(of: containers) != nil else { return }
        for container in try FileSystem.names(in: containers).compactMap({ ContainerID($0) }) {
            guard goesOn() else { return }
            for environment in Environment.allCases {
                try backupStorage(of: StoreKey(container, environment), in: folder)
                    .removeAbandoned(begunBefore: moment)
            }
        }
    }

    /// The assets of a store in a copy of a data folder: always files beside the store.
    func backupStorage(of key: Stores.Key, in folder: String) -> any AssetBlobStore {
        folderStorage(of: key, in: folder, freeBytesMin: 0) { 0 }
    }

    private func folderStorage(
        of key: Stores.Key, in folder: String, freeBytesMin: Int,
        reserved: @escaping @Sendable () -> Int
    ) -> FolderAssets {
        FolderAssets(
            path: Self.path(of: key, in: folder), key: self.key, freeBytesMin: freeBytesMin,
            reserved: reserved, random: random)
    }

    /// Where assets lie below a data folder or a copy of one; a container has one folder, whatever its name's case.
    static func path(of key: StoreKey, in folder: String) -> String {
        "\(self.folder(of: key.container, in: folder))/\(key.environment.rawValue)/assets"
    }

    private static func folder(of container: ContainerID, in folder: String) -> String {
        "\(folder)/containers/\(container.folded)"
    }

    /// Removes the folders of a container in which nothing is left.
    static func removeFolders(of container: ContainerID, in folder: String) {
        let path = self.folder(of: container, in: folder)
        for environment in Environment.allCases {
            FileSystem.removeEmptyFolder("\(path)/\(environment.rawValue)")
        }
        FileSystem.removeEmptyFolder(path)
    }
}
