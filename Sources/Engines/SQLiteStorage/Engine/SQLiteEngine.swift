import CloudModel
import Files
import SQLite
import Storage
import Synchronization

/// The engine that keeps all data in SQLite files below the data folder: `catalog.sqlite`, and a `store.sqlite`
/// in the folder of each container environment.
///
/// The process that has the folder's lock opens it; no other one writes the files.
package final class SQLiteEngine: StorageEngine {
    /// How the files are run.
    package struct Settings: Sendable {
        package var writer = WriterOptions()
        package var readers = ReaderPool.Options()
        /// How many event loops may read on their own threads.
        package var loopCount = 0
        /// How many changes of a store are kept for a follower that does not come: some 20 MB, then it begins again.
        package var followerChangesMax = 250_000
        /// The memory for places of versions, of all stores together.
        package var positionCacheBytesMax = 33_554_432

        package init() {}
    }

    /// What stays of stores between their openings.
    private struct State {
        var open: [StoreKey: SQLiteStore] = [:]
        var lives: [StoreKey: StoreLife] = [:]
        /// What writers have done whose stores are closed.
        var closed = WriterMeasurements()
    }

    package let catalog: any CatalogStorage
    let files: StoreFiles
    let sqliteCatalog: SQLiteCatalog
    let options: EngineOptions
    let settings: Settings
    let counts = EngineCounts()
    let positionCache: PositionCache
    private let state = Mutex(State())

    /// Opens the catalog, making it or bringing it to this version.
    ///
    /// - Throws: `MigrationError`, `SQLiteError`.
    init(folder: String, _ settings: Settings, _ options: EngineOptions) throws {
        files = StoreFiles(folder: folder)
        sqliteCatalog = try SQLiteCatalog(
            path: files.catalogPath, onIndeterminate: options.onIndeterminate)
        catalog = sqliteCatalog
        self.settings = settings
        self.options = options
        positionCache = PositionCache(bytesMax: settings.positionCacheBytesMax)
    }

    package func open(_ key: StoreKey, notices: CommitNotices) throws -> any EngineStore {
        let life = state.withLock { $0.lives.removeValue(forKey: key) }
        let store = try open(key, notices: notices, life: life)
        state.withLock { $0.open[key] = store }
        return store
    }

    func openStore(_ key: StoreKey) -> SQLiteStore? { state.withLock { $0.open[key] } }

    package func close(_ key: StoreKey, isUnused: Bool) -> Milliseconds? {
        guard let store = openStore(key) else { return nil }
        let closed = store.close(isUnused: isUnused)
        state.withLock { state in
            state.open[key] = nil
            state.lives[key] = closed.life
            state.closed.add(closed.measurements)
        }
        return closed.nextWork
    }

    /// What all writers have done, also those whose stores are closed by now.
    var measurements: [WriterMeasurements] {
        let (open, closed) = state.withLock { (Array($0.open.values), $0.closed) }
        return open.map(\.measurements) + [closed]
    }

    /// Bytes of the write-ahead logs that are open.
    var logBytes: Int64 {
        state.withLock { Array($0.open.keys) }
            .reduce(0) { $0 + FileSystem.size(of: files.path(of: $1) + "-wal") }
    }

    package func setDue(_ stores: [KnownStore]) throws { try sqliteCatalog.setDue(stores) }

    package func reset(_ key: StoreKey, to beginning: StoreBeginning) throws {
        try files.replace(key) { path in
            try SQLiteStore.makeSuccessor(
                at: path, of: files.path(of: key), beginning, random: options.random)
        }
        forget(key)
    }

    package func remove(
        _ container: ContainerID, others: (_ goesOn: () -> Bool) throws -> Void
    ) throws {
        try files.remove(container) { try sqliteCatalog.delete(container) }
        for environment in Environment.allCases { forget(StoreKey(container, environment)) }
        // Before the rest: where this fails, the files tell the next start what was left to do.
        try others { true }
        try files.finishRemoval(of: container.folded)
    }

    /// Lets go of the life that a closed store has left.
    func forget(_ key: StoreKey) {
        _ = state.withLock { $0.lives.removeValue(forKey: key) }
    }

    package func recover(others: (StoreKey, _ goesOn: () -> Bool) throws -> Void) throws {
        // A reset that was cut off between two moves has its files beside their place.
        try ListPage.forEach(stores) { store in
            if !store.isThere { try files.finishReplacing(store.key) }
        }
        for aside in try files.names() where aside.hasSuffix(StoreFiles.asideSuffix) {
            let name = String(aside.dropLast(StoreFiles.asideSuffix.count))
            // NB: what does not answer keeps nobody from starting; the next start tries.
            do { try finishOthers(of: name, others) } catch { continue }
            try files.finishRemoval(of: name)
        }
        // NB: a copy that cannot be looked at stays until the next start.
        try? removeOldCopies()
    }

    private func finishOthers(
        of name: String, _ others: (StoreKey, _ goesOn: () -> Bool) throws -> Void
    ) throws {
        guard let container = ContainerID(name) else { return }
        for key in Environment.allCases.map({ StoreKey(container, $0) }) {
            // One made again under the name has its own files there, and finds the old ones by and by.
            guard try FileSystem.kind(of: files.location(of: key)) == nil else { continue }
            try others(key) { true }
        }
    }

    package func close() {
        // NB: what is in the log is on disk; the next start reads it from there.
        try? sqliteCatalog.checkpoint()
    }
}

extension SQLiteStore: EngineStore {
    package var condition: StoreCondition {
        let measurements = measurements
        if measurements.groups.isFailed { return .failed }
        return measurements.groups.isFull ? .full : .well
    }
}

extension SQLiteError: EngineFault {
    package var finding: EngineFinding { kind == .corrupt ? .damaged : .other }
}
