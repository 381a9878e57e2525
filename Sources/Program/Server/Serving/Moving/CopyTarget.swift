import Administration
import AssetStorage
import Configuration
import Control
import Cryptography
import Files
import Storage

/// A data folder that takes a copy of another one's containers, opened by the one process that may change it.
final class CopyTarget {
    let configuration: ServerConfiguration
    let engine: any StorageEngine
    private let locations: AssetLocations
    private let lock: FileLock

    /// Takes the lock of a folder, which is made where there is none, and opens its data.
    ///
    /// - Throws: `CommandFailure`, and what the settings and the engine report.
    init(_ request: CopyRequest, from source: DataFolder) throws {
        let path = request.folder
        let configuration = try Self.configuration(request)
        try DataFolder.make(path)
        do { lock = try FileLock(path: DataFolder.lockPath(in: path)) } catch {
            throw CommandFailure("\(path) is in use (\(error)): stop the server there first")
        }
        let random = source.random
        let factory = try configuration.engineFactory(for: path) { random.bytes($0) }
        try DataFolder.requireWhole(path, factory)
        _ = try SecretKeys.open(configuration, of: path, random: random)
        try SecretKeys.add(
            keysOf: source.configuration, in: source.path, to: configuration)
        locations = try AssetLocations(
            configuration, of: path, clock: source.clock, random: random)
        engine = try factory.open(
            EngineOptions(
                clock: source.clock, random: { random.bytes($0) }, report: { _, _ in },
                onIndeterminate: { _ in }))
        self.configuration = configuration
    }

    private static func configuration(_ request: CopyRequest) throws -> ServerConfiguration {
        let loaded = try LoadedConfiguration(
            file: request.settings, environment: [:], flags: [("data", request.folder)])
        return loaded.values
    }

    /// The files of a store there.
    func storage(of key: StoreKey) -> any AssetBlobStore {
        locations.storage(of: key, in: configuration.data)
    }

    func close() {
        engine.close()
        FolderAccess.giveToOwner(of: configuration.data)
    }
}
