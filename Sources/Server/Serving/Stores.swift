import AssetStorage
import CloudModel
import SQLite
import SQLiteStorage
import Storage
import Synchronization
import WebServices

/// The stores of a data folder, one for each container environment: opened when somebody asks for one, and
/// closed when nobody has needed it for long or others need its place.
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

    /// A store while it is open.
    struct Opened: Sendable {
        let store: SQLiteStore
        /// What requests see of it.
        let seen: OpenStore
    }

    /// How many stores are open, and for how long.
    struct Limits: Sendable {
        /// How many are open at once, unless more are in use.
        var openMax = 128
        var idleSeconds = 600
        /// How long a closed store is left alone before upkeep opens it.
        var upkeepMilliseconds: Milliseconds = 86_400_000
    }

    let files: StoreFiles
    let catalog: SQLiteCatalog
    let keeper: StoreKeeper
    let cache: LeaseCache<Key, Opened>
    /// When closed stores are next due.
    let schedule: StoreSchedule
    /// What openings have found.
    let reports: StoreReports
    let search: MissingSearch
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - folder: the data folder.
    ///   - onIndeterminate: called when a commit's outcome is unknown; the process must end.
    init(
        folder: String, catalog: SQLiteCatalog, options: SQLiteStore.Options, limits: Limits,
        assetPlaces: AssetPlaces, assets: AssetOptions, former: FormerStores,
        onIndeterminate: @escaping @Sendable (String) -> Void
    ) {
        let files = StoreFiles(folder: folder)
        let reports = StoreReports()
        let schedule = StoreSchedule(
            catalog: catalog, clock: options.clock, upkeepMilliseconds: limits.upkeepMilliseconds)
        let keeper = StoreKeeper(
            opener: StoreOpener(
                files: files, catalog: catalog, options: options, former: former,
                reports: reports, onIndeterminate: onIndeterminate),
            assetPlaces: assetPlaces, assets: assets, schedule: schedule)
        self.files = files
        self.catalog = catalog
        self.reports = reports
        self.schedule = schedule
        self.keeper = keeper
        random = options.random
        let search = MissingSearch(files: files, catalog: catalog)
        self.search = search
        cache = LeaseCache(
            countMax: limits.openMax, idleSeconds: limits.idleSeconds,
            actions: LeaseCache.Actions(
                open: { key in
                    let opened = try keeper.open(key)
                    search.found(key)
                    return opened
                },
                close: { keeper.close($0, $1, isUnused: $2) },
                isBusy: { keeper.isBusy($0) }))
    }

    /// The store of a container environment, made when it is asked for the first time; it stays open as long
    /// as this is kept.
    ///
    /// Blocks while it is being opened, migrated and recovered, and delays no other store meanwhile: never
    /// on an event loop.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`, `StorageFailure.full`, `missing` and `beginning`, and
    ///   what the engine reports.
    package func store(
        of container: ContainerID, in environment: Environment
    ) throws -> LeasedStore {
        do {
            return LeasedStore(try cache.wait(for: Key(container, environment)))
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> any Error {
        switch error {
        case is LeaseCache<Key, Opened>.Closed: CatalogRefusal.containerUnknown
        case is LeaseCache<Key, Opened>.TooManyWait:
            Fault.tryAgainLater("the container's data is being opened")
        default: error
        }
    }

    /// Has links of stores that are opened from now on begin with an address that is known by now.
    func link(by options: AssetOptions) { keeper.link(by: options) }

    /// The assets of a container environment, whether its store is open or not.
    package func depot(of key: Key) -> AssetDepot { keeper.depot(of: key) }

    /// The stores that are open now, for who looks at how they are faring.
    var open: [SQLiteStore] { cache.open.map(\.value.store) }

    /// What all writers have done, also those whose stores are closed by now.
    var measurements: [WriterMeasurements] {
        open.map(\.measurements) + [keeper.closedMeasurements]
    }

    /// Says whom to tell of each store that is open or will be, with its assets.
    func observeOpening(
        _ tell: @escaping @Sendable (Key, SQLiteStore, AssetDepot) -> Void
    ) {
        keeper.observeOpening(tell)
        // Afterwards: one that is opened meanwhile is told twice rather than not at all.
        for (key, opened) in cache.open { tell(key, opened.store, depot(of: key)) }
    }

    /// Brings a file of an earlier version to this one's schema.
    ///
    /// - Throws: as `store`.
    func migrate(_ key: Key) throws {
        guard try StoreFacts(at: files.path(of: key)).formerVersion != nil else { return }
        _ = try store(of: key.container, in: key.environment)
    }

    /// Closes a container's stores and removes their files.
    ///
    /// Who has a store of it finds it closed. The files are put aside first: after a crash at any moment a
    /// container made again under the name finds nothing of the old one's.
    ///
    /// - Parameter forget: takes the container out of the catalog; when it throws, the files stay.
    func remove(_ container: ContainerID, forgetting forget: () throws -> Void) throws {
        let keys = Environment.allCases.map { Key(container, $0) }
        var taken: [Key] = []
        defer { for key in taken { cache.give(back: key) } }
        for key in keys {
            let opened = try cache.take(key, refusing: CatalogRefusal.containerUnknown)
            taken.append(key)
            if let opened { keeper.close(key, opened, isUnused: false) }
        }
        let assets = keys.map { keeper.storage(of: $0) }
        try files.remove(container, forgetting: forget)
        for key in keys {
            keeper.forget(key)
            search.forget(key)
        }
        // Before the files: where this fails, they tell the next start what was left to do.
        for storage in assets { try storage.removeEverything() }
        try files.finishRemoval(of: container.folded)
    }

    /// Has a store begin anew, with a schema and nothing else; its tokens expire.
    ///
    /// Requests meanwhile are told to try again.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`, `CommandFailure`, `StorageFailure`, and what the
    ///   engine reports; the store then is as it was.
    func reset(_ key: Key, _ beginning: SQLiteStore.Beginning) throws {
        // Opened once, so that it is there and of this version.
        _ = try store(of: key.container, in: key.environment)
        let opened = try cache.take(key, refusing: StorageFailure.beginning)
        defer { cache.give(back: key) }
        if let opened { keeper.close(key, opened, isUnused: false) }
        try files.replace(key) { path in
            try SQLiteStore.makeSuccessor(
                at: path, of: files.path(of: key), beginning, random: random)
        }
        keeper.beginAnew(key)
    }

    /// Finishes what waits in every store and closes them; later calls find none.
    func close() {
        cache.closeAll()
        schedule.save()
    }

    /// Where a store's file is below a data folder.
    static func path(of key: Key, in folder: String) -> String {
        StoreFiles(folder: folder).path(of: key)
    }
}

extension Stores: StoreAccess {
    package func known(_ container: ContainerID, _ environment: Environment) -> OpenStore? {
        cache.lease(Key(container, environment)).map(Self.seen)
    }

    package func open(
        _ container: ContainerID, _ environment: Environment,
        completion: @escaping @Sendable (Result<OpenStore, any Error>) -> Void
    ) {
        cache.open(Key(container, environment)) { result in
            completion(result.map(Self.seen).mapError(Self.failure))
        }
    }

    private static func seen(_ lease: LeaseCache<Key, Opened>.Lease) -> OpenStore {
        lease.value.seen.reached(through: LeasedStore(lease))
    }
}
