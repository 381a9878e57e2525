import Administration
import AssetStorage
import Configuration
import Control
import Cryptography
import Files
import Storage

/// A server's data that take a copy of another one's containers, opened by the one process that may change them.
final class CopyTarget {
    let configuration: ServerConfiguration
    let engine: any StorageEngine
    private let locations: AssetLocations
    private let lock: FileLock

    /// Takes the lock of a data folder, which is made where there is none, and opens its data.
    ///
    /// - Throws: `CommandFailure`, and what the settings and the engine report.
    init(_ request: CopyRequest, from source: DataFolder) throws {
        let configuration = try Self.configuration(request)
        let path = configuration.data
        guard !FileSystem.isSame(path, source.path),
            configuration.dataAddress != source.configuration.dataAddress
        else { throw CommandFailure("\(configuration.dataAddress) is where the data are") }
        let random = source.random
        let factory = try configuration.engineFactory(for: path) { random.bytes($0) }
        try DataFolder.make(path)
        do { lock = try FileLock(path: DataFolder.lockPath(in: path)) } catch {
            throw CommandFailure("\(path) is in use (\(error)): stop the server there first")
        }
        try configuration.requireOneEngine(in: path)
        do {
            try DataFolder.requireWhole(path, factory)
            _ = try SecretKeys.open(configuration, of: path, random: random)
            try SecretKeys.add(
                keysOf: source.configuration, in: source.path, to: configuration)
            var options = EngineOptions(
                clock: source.clock, random: { random.bytes($0) }, report: { _, _ in },
                onIndeterminate: { _ in })
            options.assets = try AssetLocations.name(configuration, of: path, random: random)
            let engine = try factory.open(options)
            do {
                try AssetLocations.requireSame(options.assets, of: path, as: engine.catalog)
                locations = try AssetLocations(
                    configuration, of: path, clock: source.clock, random: random, sharing: engine)
            } catch {
                engine.close()
                throw error
            }
            self.engine = engine
        } catch StorageFailure.unavailable(.unreachable(let words)) {
            throw CommandFailure(
                "\(factory.words.location(.catalog)) does not answer: \(words)")
        }
        self.configuration = configuration
    }

    /// The settings of the server there, whose engine is the one that the address names.
    private static func configuration(_ request: CopyRequest) throws -> ServerConfiguration {
        switch request.target {
        case .folder(let folder):
            let values = try LoadedConfiguration(
                file: request.settings, environment: [:], flags: [("data", folder)]
            ).values
            guard values.storage.engine == .sqlite else {
                throw CommandFailure(
                    "--to-config keeps its data at \(values.dataAddress): name that by --to")
            }
            return values
        case .database(let url):
            guard let settings = request.settings else {
                throw CommandFailure(
                    "--to postgresql://… needs --to-config, the configuration file of the server there, which "
                        + "names its data folder and the file of the password")
            }
            let values = try LoadedConfiguration(file: settings, environment: [:], flags: []).values
            guard values.storage.engine == .postgres, values.storage.postgresURL == url else {
                throw CommandFailure(
                    "\(settings) keeps its data at \(values.dataAddress), which is not what --to names"
                )
            }
            guard values.data.hasPrefix("/") else {
                throw CommandFailure("data in \(settings) is to be an absolute path")
            }
            return values
        }
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
