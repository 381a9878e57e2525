import AssetStorage
import CloudModel
import Storage
import Synchronization
import WebServices

/// The stores of a data folder, one for each container environment.
///
/// A store is opened when somebody asks for it. It is closed when nobody has needed it for long, or
/// when others need its place.
package final class Stores: Sendable {
    package typealias Key = StoreKey

    /// A store while it is open.
    struct Opened: Sendable {
        let store: any EngineStore
        /// What requests see of it.
        let seen: OpenStore
        let worker: AttachedWorker
    }

    /// How many stores are open, and for how long.
    struct Limits: Sendable {
        /// How many are open at once, unless more are in use.
        var openMax = 128
        /// Devices that sync every few minutes find it open.
        var idleSeconds = 600
        /// How long a closed store is left alone before upkeep opens it: what is due in it is due by the day.
        var upkeepMilliseconds: Milliseconds = 86_400_000
    }

    let engine: any StorageEngine
    let keeper: StoreKeeper
    let cache: LeaseCache<Key, Opened>
    /// When closed stores are next due.
    let schedule: StoreSchedule
    /// What openings have found.
    let reports: StoreReports
    let search: MissingSearch

    /// - Parameters:
    ///   - folder: the data folder.
    ///   - words: what the engine's data are called.
    ///   - reports: what the engine's openings report to.
    init(
        folder: String, engine: any StorageEngine, words: EngineWords, clock: Clock, limits: Limits,
        assetLocations: AssetLocations, assets: AssetOptions, reports: StoreReports
    ) {
        let schedule = StoreSchedule(
            engine: engine, clock: clock, upkeepMilliseconds: limits.upkeepMilliseconds)
        let keeper = StoreKeeper(
            engine: engine, folder: folder, assetLocations: assetLocations, assets: assets,
            schedule: schedule)
        self.engine = engine
        self.reports = reports
        self.schedule = schedule
        self.keeper = keeper
        let search = MissingSearch(engine: engine) { words.location($0) }
        self.search = search
        cache = LeaseCache(
            countMax: limits.openMax, idleSeconds: limits.idleSeconds,
            actions: LeaseCache.Actions(
                open: { key in
                    let opened = try keeper.open(key)
                    search.forget(key)
                    return opened
                },
                close: { keeper.close($0, $1, isUnused: $2) },
                isBusy: { keeper.isBusy($0) }))
    }

    /// The store of a container environment.
    ///
    /// The first request makes it. It stays open as long as the caller keeps it.
    ///
    /// Blocks while the store is opened, migrated and recovered. So never call it on an event loop.
    /// It delays no other store meanwhile.
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

    /// Sets the address that links of stores begin with, for stores that are opened from now on.
    func link(by options: AssetOptions) { keeper.link(by: options) }

    /// The assets of a container environment, whether its store is open or not.
    package func assetStore(of key: Key) -> AssetStore { keeper.assetStore(of: key) }

    /// The stores that are open now, for reports about them.
    var open: [any EngineStore] { cache.open.map(\.value.store) }

    /// Sets the closure that hears of each store that is open or will be, with its assets; of some twice.
    ///
    /// - Parameter tell: answers who does the store's work from then on; nil for who does it already.
    func observeOpening(
        _ tell: @escaping @Sendable (Key, any EngineStore, AssetStore) -> (any StoreWorker)?
    ) {
        keeper.observeOpening(tell)
        // Afterwards: one that is opened meanwhile is told twice rather than not at all.
        cache.eachOpen { [self] key, lease in
            let opened = lease.value
            withExtendedLifetime(lease) {
                tell(key, opened.store, assetStore(of: key)).map(opened.worker.attach)
            }
        }
    }

    /// Closes a container's stores, takes it out of the catalog and removes its data.
    ///
    /// Who has a store of it finds it closed.
    ///
    /// - Throws: as `StorageEngine.remove`; `AssetFailure`.
    func remove(_ container: ContainerID) throws {
        let keys = Environment.allCases.map { Key(container, $0) }
        var taken: [Key] = []
        defer { for key in taken { cache.give(back: key) } }
        for key in keys {
            let opened = cache.take(key, refusing: CatalogRefusal.containerUnknown)
            taken.append(key)
            if let opened { keeper.close(key, opened, isUnused: false) }
        }
        try engine.remove(container) { goesOn in
            for key in keys {
                keeper.forget(key)
                search.forget(key)
            }
            for key in keys { try keeper.removeAssets(of: key, while: goesOn) }
        }
    }

    /// Resets a store to a schema and nothing else; its tokens expire.
    ///
    /// Requests meanwhile are told to try again.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`, `StorageFailure`, `EngineFault`; the store then is as it was.
    func reset(_ key: Key, _ beginning: StoreBeginning) throws {
        // Opened once, so that it is there and of this version.
        _ = try store(of: key.container, in: key.environment)
        let opened = cache.take(key, refusing: StorageFailure.beginning)
        defer { cache.give(back: key) }
        if let opened { keeper.close(key, opened, isUnused: false) }
        try engine.reset(key, to: beginning)
        keeper.beginAnew(key)
    }

    /// Closes a store whose data another process has removed or replaced; requests meanwhile are told to try again.
    func closeGone(_ key: Key) {
        let opened = cache.take(key, refusing: StorageFailure.beginning)
        defer { cache.give(back: key) }
        guard let opened else { return }
        keeper.close(key, opened, isUnused: false)
        keeper.beginAnew(key)
    }

    /// Finishes what waits in every store and closes them; later calls find none.
    func close() {
        cache.closeAll()
        schedule.save()
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
