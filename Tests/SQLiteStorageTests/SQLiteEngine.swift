import CloudModel
import Foundation
import SQLite
import SQLiteStorage
import Storage
import StorageConformance
import Synchronization

extension Engine {
    /// The engine of this target, in folders that are removed after their test.
    static let sqlite = Engine(name: "SQLite") { try SQLiteLocation($0) }

    /// One whose hashes of names meet all the time.
    static let sqliteWithMeetingHashes = Engine(name: "SQLite with hashes of 3 bits") {
        try SQLiteLocation($0, nameHashBits: 3)
    }
}

/// A folder with one store and one catalog.
final class SQLiteLocation: EngineLocation {
    private struct State {
        var folder: URL
        var open: [SQLiteStore] = []
        var crashes = 0
    }

    private let root: URL
    private let clock: TestClock
    private let nameHashBits: Int
    private let state: Mutex<State>

    init(_ clock: TestClock = TestClock(), nameHashBits: Int = 64) throws {
        self.nameHashBits = nameHashBits
        root = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")
        let folder = root.appending(path: "0")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.clock = clock
        state = Mutex(State(folder: folder))
    }

    let followerChangesMax = 500

    /// Of the store's file.
    var path: String { state.withLock { $0.folder.appending(path: "store.sqlite").path } }

    func openStore() throws -> any Store {
        var options = SQLiteStore.Options(
            clock: clock.clock, random: { count in (0..<count).map { _ in .random(in: 0...255) } })
        options.loopCount = 2
        options.nameHashBits = nameHashBits
        // On a busy machine a check of hashes that all meet takes long.
        options.readers.snapshotSecondsMax = 600
        options.followerChangesMax = followerChangesMax
        let store = try SQLiteStore(path: path, options: options, onIndeterminate: { _ in })
        state.withLock { $0.open.append(store) }
        return store
    }

    func close(_ store: any Store) {
        let closed = state.withLock { state in
            state.open.firstIndex { $0 === store }.map { state.open.remove(at: $0) }
        }
        closed?.close()
    }

    /// The files as they lie, of which nothing has been closed.
    func openAfterCrash() throws -> (any Store)? {
        let (old, new) = state.withLock { state in
            state.crashes += 1
            let old = state.folder
            state.folder = root.appending(path: "\(state.crashes)")
            return (old, state.folder)
        }
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        for file in ["store.sqlite", "store.sqlite-wal", "store.position"] {
            let source = old.appending(path: file)
            guard FileManager.default.fileExists(atPath: source.path) else { continue }
            try FileManager.default.copyItem(at: source, to: new.appending(path: file))
        }
        return try openStore()
    }

    func openBeside() -> (any Store)? { nil }

    func openCatalog() throws -> any CatalogStorage {
        try SQLiteCatalog(path: root.appending(path: "catalog.sqlite").path) { _ in }
    }

    func delete(_ container: ContainerID, from catalog: any CatalogStorage) throws {
        try (catalog as? SQLiteCatalog)?.delete(container)
    }

    /// The path of a folder of this name, which is gone with the location; made where there is none.
    func makeFolder(_ name: String) throws -> String {
        let folder = root.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.path
    }

    func factory(_ name: String) throws -> any EngineFactory {
        SQLiteEngineFactory(folder: try makeFolder(name), SQLiteEngine.Settings()) { count in
            (0..<count).map { _ in .random(in: 0...255) }
        }
    }

    func problems() throws -> [String] {
        try StoreCheck(path: path, nameHashBits: nameHashBits).problems()
    }

    func remove() {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for store in open { store.close() }
        try? FileManager.default.removeItem(at: root)
    }

    deinit { remove() }
}
