import CloudModel
import Cryptography
import SQLiteStorage
import Storage

/// The folder that holds everything the server keeps, opened by the one process that may change it.
package final class DataFolder: Sendable {
    package let path: String
    package let configuration: ServerConfiguration
    package let catalog: SQLiteCatalog
    package let clock: Clock
    package let random: RandomSource
    private let lock: FolderLock

    private init(
        path: String, configuration: ServerConfiguration, lock: FolderLock,
        surroundings: Surroundings
    ) throws {
        self.path = path
        self.configuration = configuration
        self.lock = lock
        clock = surroundings.clock
        random = surroundings.random
        catalog = try SQLiteCatalog(path: Self.catalogPath(in: path))
    }

    /// Makes the folder when there is none, and takes its lock.
    ///
    /// - Returns: nil while another process holds it.
    /// - Throws: `CommandFailure`, and what the databases report.
    package static func open(
        _ path: String, configuration: ServerConfiguration, surroundings: Surroundings
    ) throws -> DataFolder? {
        try FileSystem.makeFolder(path)
        try FileSystem.setMode(0o700, of: path)
        guard let lock = try FolderLock.take(in: path) else { return nil }
        return try DataFolder(
            path: path, configuration: configuration, lock: lock, surroundings: surroundings)
    }

    /// Where the process that holds a folder takes commands.
    package static func controlSocketPath(in folder: String) -> String { "\(folder)/control.sock" }

    static func catalogPath(in folder: String) -> String { "\(folder)/catalog.sqlite" }

    /// The folder of a container, whose name in any case is one and the same.
    func containerPath(_ id: ContainerID) -> String { "\(path)/containers/\(id.folded)" }

    /// Forgets a container and removes its data.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`.
    package func deleteContainer(_ id: ContainerID) throws {
        try catalog.delete(id)
    }

    /// Closes the databases and lets go of the lock; the last use.
    package func close() {
        lock.release()
    }
}
