import AssetStorage
import CloudModel
import SQLite
import SQLiteStorage
import Storage
import Synchronization

/// The stores of a data folder, one for each container environment, opened when first asked for.
package final class Stores: Sendable {
    /// Names one store.
    package struct Key: Hashable, Sendable {
        package let container: ContainerID
        package let environment: Environment

        package init(_ container: ContainerID, _ environment: Environment) {
            self.container = container
            self.environment = environment
        }
    }

    private struct State {
        var open: [Key: SQLiteStore] = [:]
        /// Stores that are being opened, which may take long where one is brought to a new schema.
        var opening: [Key: Opening] = [:]
        var depots: [Key: AssetDepot] = [:]
        /// Containers on their way out, whose files are being moved.
        var leaving: Set<ContainerID> = []
        /// Stores that are about to begin anew.
        var beginning: Set<Key> = []
        /// Stores whose file was missing at the start, or another's, and that were not opened since.
        var refused: Set<Key> = []
        var isClosed = false
    }

    private let folder: String
    private let catalog: SQLiteCatalog
    private let options: SQLiteStore.Options
    private let onIndeterminate: @Sendable (String) -> Void
    private let assetPlaces: AssetPlaces
    private let former: FormerStores
    private let state = Mutex(State())
    /// What openings have found.
    let reports = StoreReports()
    private let onOpening = Mutex<@Sendable (SQLiteStore, AssetDepot) -> Void>({ _, _ in })
    private let onRemoval = Mutex<@Sendable (ContainerID) -> Void>({ _ in })

    /// - Parameters:
    ///   - folder: the data folder.
    ///   - onIndeterminate: called when a commit's outcome is unknown; the process must end.
    init(
        folder: String, catalog: SQLiteCatalog, options: SQLiteStore.Options,
        assetPlaces: AssetPlaces, former: FormerStores,
        onIndeterminate: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.catalog = catalog
        self.options = options
        self.assetPlaces = assetPlaces
        self.former = former
        self.onIndeterminate = onIndeterminate
    }

    /// The store of a container environment, made when it is asked for the first time.
    ///
    /// Blocks while it is being opened, migrated and recovered, and delays no other store meanwhile: never
    /// on an event loop.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`, `StorageFailure.full` and `beginning`, and what
    ///   the engine reports.
    package func store(
        of container: ContainerID, in environment: Environment
    ) throws -> SQLiteStore {
        let key = Key(container, environment)
        if let known = state.withLock({ $0.open[key] }) { return known }
        let (opening, isFirst) = try state.withLock { state in
            if let known = state.open[key] { return (Opening(of: known), false) }
            // Looked up under the lock, so that a deletion cannot come in between.
            guard !state.isClosed, !state.leaving.contains(container),
                try catalog.container(container) != nil
            else {
                throw CatalogRefusal.containerUnknown
            }
            guard !state.beginning.contains(key) else { throw StorageFailure.beginning }
            if let begun = state.opening[key] { return (begun, false) }
            let opening = Opening()
            state.opening[key] = opening
            return (opening, true)
        }
        guard isFirst else { return try opening.wait() }
        let outcome = Result { try open(key) }.mapError { error in
            // Whatever failed for it, by whichever call, may succeed in a moment.
            DescriptorRoom.isUsedUp ? StorageFailure.tooManyFiles : error
        }
        state.withLock { state in
            state.opening[key] = nil
            if case .success(let store) = outcome {
                state.open[key] = store
                state.refused.remove(key)
            }
        }
        if case .success(let store) = outcome { onOpening.withLock { $0 }(store, depot(of: key)) }
        opening.end(outcome)
        return try outcome.get()
    }

    private func open(_ key: Key) throws -> SQLiteStore {
        let store = try openKnown(key)
        do {
            // What an earlier process was at; this one has not begun.
            try depot(of: key).storage.removeUnfinished()
        } catch {
            store.close()
            throw error
        }
        return store
    }

    /// Opens the file that the catalog knows, or makes the first of an environment.
    ///
    /// - Throws: `StorageFailure.missing` where it knows one that is not there: an empty one in its place
    ///   would be taken for all there is.
    private func openKnown(_ key: Key) throws -> SQLiteStore {
        let path = Self.path(of: key, in: folder)
        guard let place = FileSystem.parent(of: path) else { throw StorageFailure.missing }
        try Self.finishReset(of: place)
        let known = try catalog.store(of: key.container, in: key.environment)
        if known != nil {
            guard try FileSystem.kind(of: path) == .file else { throw StorageFailure.missing }
            if let name = known?.name, try SQLiteStore.name(at: path) != name {
                throw StorageFailure.missing
            }
            if let report = try former.keep(path, of: SQLiteStore.formerVersion(at: path)) {
                reports.tell(key, report)
            }
        } else {
            try putAside(key, path)
            try FileSystem.makeFolder(place)
        }
        let store = try open(path, of: key, name: known?.name ?? options.random(16))
        if known?.name == nil, let name = try SQLiteStore.name(at: path) {
            // The file first, then the row that says that it is there. The folders above may be of a start
            // that was ended before it had brought their names to the disk.
            for number in 0..<3 {
                try FileModes.synchronize(place + String(repeating: "/..", count: number))
            }
            try FileModes.synchronize(folder)
            try catalog.note(name, of: key.container, in: key.environment)
        }
        return store
    }

    /// Puts files out of the way that the catalog does not know: they are of another server, or of a
    /// container that was deleted, and nobody may be shown what is in them.
    private func putAside(_ key: Key, _ path: String) throws {
        guard let place = FileSystem.parent(of: path), try FileSystem.kind(of: path) != nil
        else { return }
        // A start that was cut off before the catalog knew of it leaves one that holds nothing.
        if try SQLiteStore.isUnused(at: path) {
            for suffix in ["", "-wal", "-shm"] { FileSystem.removeFile(path + suffix) }
            return
        }
        var aside = place + Self.straySuffix
        var number = 1
        while try FileSystem.kind(of: aside) != nil {
            number += 1
            aside = "\(place)\(Self.straySuffix)-\(number)"
        }
        try FileSystem.move(place, to: aside)
        reports.tell(key, .stray(path: aside))
    }

    /// Ends the name of a folder that was put out of the way.
    private static let straySuffix = "~stray"

    private func open(_ path: String, of key: Key, name: [UInt8]) throws -> SQLiteStore {
        var options = options
        options.name = name
        options.report = { [reports] in reports.tell(key, $0) }
        do {
            return try SQLiteStore(path: path, options: options, onIndeterminate: onIndeterminate)
        } catch let error as SQLiteError where error.kind == .full {
            // A new file finds no room; its maker may try again.
            throw StorageFailure.full
        }
    }

    /// The assets of a container environment, whether its store is open or not.
    package func depot(of key: Key) -> AssetDepot { state.withLock { depot(of: key, &$0) } }

    private func depot(of key: Key, _ state: inout State) -> AssetDepot {
        if let known = state.depots[key] { return known }
        let depot = AssetDepot(assetPlaces.storage(of: key, in: folder))
        state.depots[key] = depot
        return depot
    }

    /// The stores that are open now.
    package var open: [SQLiteStore] { state.withLock { Array($0.open.values) } }

    /// The stores that the catalog knows and that have a file, open or not.
    package func existing() throws -> [Key] {
        try known().filter { try FileSystem.kind(of: Self.path(of: $0, in: folder)) != nil }
    }

    /// The stores that the catalog knows and whose file is not there, or is another's.
    package func missing() throws -> [Key] {
        try known().filter { try missing($0) }
    }

    private func missing(_ key: Key) throws -> Bool {
        guard let known = try catalog.store(of: key.container, in: key.environment) else {
            return false
        }
        let path = Self.path(of: key, in: folder)
        guard try FileSystem.kind(of: path) == .file else { return true }
        guard let name = known.name else { return false }
        do {
            return try SQLiteStore.name(at: path) != name
        } catch let error as SQLiteError where error.kind == .corrupt {
            // It is there; what reads it says what is wrong with it.
            return false
        }
    }

    private func known() throws -> [Key] {
        try catalog.stores().map { Key($0.container, $0.environment) }
    }

    /// Takes the files of a folder for known that an earlier version has left.
    func settle() throws {
        try catalog.settleStores { container, environment in
            try FileSystem.kind(of: Self.path(of: Key(container, environment), in: folder)) != nil
        }
    }

    /// Folders below `containers` that belong to no store that the catalog knows.
    func strays() throws -> [String] {
        let containers = "\(folder)/containers"
        guard try FileSystem.kind(of: containers) == .folder else { return [] }
        let places = Set(
            try known().compactMap { FileSystem.parent(of: Self.path(of: $0, in: folder)) })
        var found: [String] = []
        for name in try FileSystem.names(in: containers) {
            let container = "\(containers)/\(name)"
            guard try FileSystem.kind(of: container) == .folder else { continue }
            for environment in try FileSystem.names(in: container) {
                let place = "\(container)/\(environment)"
                guard !places.contains(place),
                    try FileSystem.kind(of: "\(place)/store.sqlite") != nil
                else { continue }
                found.append(place)
            }
        }
        return found
    }

    /// Refuses files that this version may not open, before the first request asks for one.
    ///
    /// - Throws: `CommandFailure` that names the file.
    func requireKnown() throws {
        let missing = Set(try missing())
        state.withLock { $0.refused = missing }
        for key in try existing() where !missing.contains(key) {
            let path = Self.path(of: key, in: folder)
            do {
                try SQLiteStore.requireKnown(at: path)
            } catch let error as SQLiteError where error.kind == .corrupt {
                throw CommandFailure(
                    "\(path) is damaged (\(error)); `lenticular check` says more. Restore a backup, or "
                        + "move the file away to serve the other containers")
            } catch {
                throw CommandFailure("\(path): \(error)")
            }
        }
    }

    /// Brings a file of an earlier version to this one's schema.
    ///
    /// - Throws: as `store`.
    func migrate(_ key: Key) throws {
        guard try SQLiteStore.isOfEarlierVersion(at: Self.path(of: key, in: folder)) else { return }
        _ = try store(of: key.container, in: key.environment)
    }

    /// Says whom to tell of each store that is open or will be, with its assets.
    func observeOpening(_ tell: @escaping @Sendable (SQLiteStore, AssetDepot) -> Void) {
        state.withLock { state in
            onOpening.withLock { $0 = tell }
            for (key, store) in state.open { tell(store, depot(of: key, &state)) }
        }
    }

    /// Says whom to tell of each container that goes, before its stores are closed.
    func observeRemoval(_ forget: @escaping @Sendable (ContainerID) -> Void) {
        onRemoval.withLock { $0 = forget }
    }

    /// Closes a container's stores and removes their files.
    ///
    /// The files are put aside first: after a crash at any moment a container made again under the
    /// name finds nothing of the old one's.
    ///
    /// - Parameter forget: takes the container out of the catalog; when it throws, the files stay.
    func remove(_ container: ContainerID, forgetting forget: () throws -> Void) throws {
        let opening = try state.withLock { state in
            guard !state.beginning.contains(where: { $0.container == container }) else {
                throw StorageFailure.beginning
            }
            state.leaving.insert(container)
            return state.opening.filter { $0.key.container == container }.map(\.value)
        }
        // NB: what could not be opened is nothing to be closed.
        for store in opening { _ = try? store.wait() }
        let closed = state.withLock { state in
            Environment.allCases.compactMap {
                state.depots[Key(container, $0)] = nil
                return state.open.removeValue(forKey: Key(container, $0))
            }
        }
        defer { _ = state.withLock { $0.leaving.remove(container) } }
        let assets = assets(of: container)
        onRemoval.withLock { $0 }(container)
        for store in closed { store.close() }
        let place = Self.folder(of: container, in: folder)
        let aside = place + Self.asideSuffix
        try FileSystem.removeTree(aside)
        let hasFiles = try FileSystem.kind(of: place) != nil
        if hasFiles { try FileSystem.move(place, to: aside) }
        do { try forget() } catch {
            if hasFiles { try FileSystem.move(aside, to: place) }
            throw error
        }
        // Before the files: where this fails, they tell the next start what was left to do.
        for storage in assets { try storage.removeEverything() }
        try FileSystem.removeTree(aside)
    }

    private func assets(of container: ContainerID) -> [any AssetStorage] {
        Environment.allCases.map { assetPlaces.storage(of: Key(container, $0), in: folder) }
    }

    /// Has a store begin anew, with a schema and nothing else; its tokens expire.
    ///
    /// The new files are made beside the old ones and then put in their place: after a crash at any
    /// moment the store is as it was, or reset. Requests meanwhile are told to try again.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`, `CommandFailure`, `StorageFailure`, and what the
    ///   engine reports; the store then is as it was.
    func reset(_ key: Key, _ beginning: SQLiteStore.Beginning) throws {
        // Opened once, so that it is there and of this version.
        let old = try store(of: key.container, in: key.environment)
        try state.withLock { state in
            guard !state.leaving.contains(key.container), state.beginning.insert(key).inserted
            else { throw StorageFailure.beginning }
            state.open[key] = nil
        }
        defer { _ = state.withLock { $0.beginning.remove(key) } }
        onRemoval.withLock { $0 }(key.container)
        old.close()
        let path = Self.path(of: key, in: folder)
        guard let place = FileSystem.parent(of: path), let above = FileSystem.parent(of: place)
        else { return }
        let (fresh, aside) = (place + Self.freshSuffix, place + Self.asideSuffix)
        try FileSystem.removeTree(fresh)
        try FileSystem.removeTree(aside)
        try FileSystem.makeFolder(fresh)
        let random = options.random
        try SQLiteStore.makeSuccessor(
            at: Self.path(of: key, in: folder, suffix: Self.freshSuffix), of: path, beginning,
            random: random)
        try FileModes.synchronize(fresh)
        try FileSystem.move(place, to: aside)
        do { try FileSystem.move(fresh, to: place) } catch {
            try FileSystem.move(aside, to: place)
            throw error
        }
        try FileModes.synchronize(above)
        try FileSystem.removeTree(aside)
    }

    /// Removes what deletions and resets have left that a crash cut short.
    func finishRemovals() throws {
        let containers = "\(folder)/containers"
        guard try FileSystem.kind(of: containers) == .folder else { return }
        for name in try FileSystem.names(in: containers) {
            let container = "\(containers)/\(name)"
            guard !name.hasSuffix(Self.asideSuffix) else {
                try finishRemoval(of: String(name.dropLast(Self.asideSuffix.count)), in: container)
                continue
            }
            for environment in Environment.allCases {
                try Self.finishReset(of: "\(container)/\(environment.rawValue)")
            }
        }
    }

    /// Removes what a container that was deleted has left.
    private func finishRemoval(of name: String, in aside: String) throws {
        let place = String(aside.dropLast(Self.asideSuffix.count))
        // One made again under the name has its own files there, and finds the old ones by and by.
        if let container = ContainerID(name), try FileSystem.kind(of: place) == nil {
            do throws(AssetFailure) {
                for storage in assets(of: container) { try storage.removeEverything() }
            } catch {
                // NB: a store that does not answer keeps nobody from starting; the next start tries.
                return
            }
        }
        try FileSystem.removeTree(aside)
    }

    /// Puts the new files of a store in their place when only that was left to do, and removes what
    /// else there is beside it.
    private static func finishReset(of place: String) throws {
        let fresh = place + freshSuffix
        if try FileSystem.kind(of: fresh) != nil {
            if try FileSystem.kind(of: place) == nil {
                try FileSystem.move(fresh, to: place)
            } else {
                try FileSystem.removeTree(fresh)
            }
        }
        try FileSystem.removeTree(place + asideSuffix)
    }

    /// Ends the name of files that are not in their place yet.
    private static let freshSuffix = "~fresh"

    /// Ends the name of files that are on their way out; no container's name has such a sign.
    private static let asideSuffix = "~deleted"

    /// Finishes what waits in every store and closes them; later calls find none.
    func close() {
        let opening = state.withLock { state in
            state.isClosed = true
            return Array(state.opening.values)
        }
        // NB: what could not be opened is nothing to be closed.
        for store in opening { _ = try? store.wait() }
        let stores = state.withLock { state in
            defer { state.open = [:] }
            return Array(state.open.values)
        }
        for store in stores { store.close() }
    }

    /// What is wrong with the disk, in a word; nil when nothing is.
    ///
    /// Does not block. Being asked has a store whose disk is full try whether there is room again: while it says
    /// so, nobody may be sending it the write that would find out.
    var diskTrouble: String? {
        var trouble: String?
        for store in open {
            let measurements = store.measurements
            if measurements.isFailed { return "disk failed" }
            if measurements.isDiskFull {
                trouble = "disk full"
                store.write(cost: 1, frees: false, { _ in }, completion: { _ in })
            }
        }
        return trouble ?? missingTrouble
    }

    /// Names the first store whose file is not there; nil when all are.
    private var missingTrouble: String? {
        // NB: a catalog or a file that cannot be read shows elsewhere.
        let gone = (try? known())?.first {
            FileSystem.size(of: Self.path(of: $0, in: folder)) == 0
        }
        let refused = state.withLock { $0.refused }
        // NB: one that cannot be read is no better than one that is not there.
        let stays = refused.first { (try? missing($0)) ?? true }
        guard let key = gone ?? stays else { return nil }
        return "store missing: \(key.container.name) \(key.environment.rawValue)"
    }

    /// Bytes of the write-ahead logs that are open.
    var logBytes: Int64 {
        let keys = state.withLock { Array($0.open.keys) }
        return keys.reduce(0) { $0 + FileSystem.size(of: Self.path(of: $1, in: folder) + "-wal") }
    }

    /// Where a store's file is; a container has one folder, whatever its name's case.
    ///
    /// - Parameter suffix: of the folder of the environment.
    static func path(of key: Key, in folder: String, suffix: String = "") -> String {
        let container = Self.folder(of: key.container, in: folder)
        return "\(container)/\(key.environment.rawValue)\(suffix)/store.sqlite"
    }

    private static func folder(of container: ContainerID, in folder: String) -> String {
        "\(folder)/containers/\(container.folded)"
    }
}
