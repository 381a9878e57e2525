import AssetStorage
import CloudModel
import Storage
import Synchronization
import WebServices

/// Opens and closes the stores of a data folder, and keeps what outlives an opening.
///
/// What waits for a store's commits and claims its assets stays while the store is closed. Only stores that
/// have been opened have it, so no stranger's request adds to it.
final class StoreKeeper: Sendable {
    /// What a store has that outlives its being open.
    private struct StoreResources {
        let notices: CommitNotices
        let assetStore: AssetStore
        /// Whether this process has opened it, so that what is on its way there may be its own.
        var wasOpened = false
    }

    private struct State {
        var resources: [Stores.Key: StoreResources] = [:]
        /// Says who does the work of each store that is opened.
        var worker: @Sendable (Stores.Key, any EngineStore, AssetStore) -> (any StoreWorker)? = {
            _, _, _ in nil
        }
    }

    private let engine: any StorageEngine
    /// The data folder.
    private let folder: String
    private let assetLocations: AssetLocations
    /// What links of assets are made by.
    private let assets: Mutex<AssetOptions>
    private let schedule: StoreSchedule
    private let state = Mutex(State())

    init(
        engine: any StorageEngine, folder: String, assetLocations: AssetLocations,
        assets: AssetOptions, schedule: StoreSchedule
    ) {
        self.engine = engine
        self.folder = folder
        self.assetLocations = assetLocations
        self.assets = Mutex(assets)
        self.schedule = schedule
    }

    /// Sets the address that links of stores begin with, for stores that are opened from now on.
    func link(by options: AssetOptions) { assets.withLock { $0 = options } }

    /// Opens a store; blocks while it is made, migrated or recovered.
    ///
    /// - Throws: as `StorageEngine.open`; `StorageFailure.tooManyOpen`; `AssetFailure`.
    func open(_ key: Stores.Key) throws -> Stores.Opened {
        do {
            return try opened(key)
        } catch {
            // Whatever failed for it, by whichever call, may succeed in a moment.
            throw DescriptorRoom.isUsedUp ? StorageFailure.tooManyOpen : error
        }
    }

    private func opened(_ key: Stores.Key) throws -> Stores.Opened {
        guard try engine.catalog.container(key.container)?.isElsewhere != true else {
            throw StorageFailure.moved
        }
        let known = state.withLock { $0.resources[key] }
        let resources =
            known
            ?? StoreResources(
                notices: CommitNotices(), assetStore: AssetStore(storage(of: key)))
        let store = try engine.open(key, notices: resources.notices)
        // What an earlier process was at; this one has not begun, nor is another at something there. Beside others it is
        // removed once it is old, where assets are collected and by `AbandonedUploads`.
        if !resources.wasOpened, engine.processes.count == 1 {
            do { try resources.assetStore.storage.removeUnfinished() } catch {
                _ = engine.close(key, isUnused: true)
                throw error
            }
        }
        let (makeWorker, assetStore) = state.withLock { state in
            // Another caller may have asked for the assets meanwhile.
            let assetStore = state.resources[key]?.assetStore ?? resources.assetStore
            state.resources[key] = StoreResources(
                notices: resources.notices, assetStore: assetStore, wasOpened: true)
            return (state.worker, assetStore)
        }
        let seen: OpenStore
        do {
            seen = try OpenStore(
                store, of: key.container, in: key.environment, assetStore: assetStore,
                assets: assets.withLock { $0 })
        } catch {
            _ = engine.close(key, isUnused: true)
            throw error
        }
        schedule.opened(key)
        let worker = AttachedWorker()
        makeWorker(key, store, assetStore).map(worker.attach)
        return Stores.Opened(store: store, seen: seen, worker: worker)
    }

    /// Closes a store.
    ///
    /// - Parameter isUnused: whether nobody has a lease of it.
    func close(_ key: Stores.Key, _ opened: Stores.Opened, isUnused: Bool) {
        opened.worker.stop()
        schedule.closed(key, nextWork: engine.close(key, isUnused: isUnused))
    }

    /// Whether a store must not be closed although nobody has a lease of it.
    ///
    /// On a full disk it might not be opened again.
    func isBusy(_ opened: Stores.Opened) -> Bool {
        opened.worker.isBusy || opened.store.condition == .full
    }

    /// The assets of a container environment, whether its store is open or not.
    func assetStore(of key: Stores.Key) -> AssetStore {
        state.withLock { state in
            if let known = state.resources[key] { return known.assetStore }
            let assetStore = AssetStore(storage(of: key))
            state.resources[key] = StoreResources(notices: CommitNotices(), assetStore: assetStore)
            return assetStore
        }
    }

    /// The bytes of assets of a container environment.
    func storage(of key: Stores.Key) -> any AssetBlobStore {
        assetLocations.storage(of: key, in: folder)
    }

    /// As `AssetLocations.removeAbandonedUploads`, of the data folder.
    func removeAbandonedUploads(
        begunBefore moment: Milliseconds, while goesOn: () -> Bool
    ) throws {
        try assetLocations.removeAbandonedUploads(in: folder, begunBefore: moment, while: goesOn)
    }

    /// Removes the files of assets of a store that is gone, and the folders in which they were.
    ///
    /// - Parameter goesOn: as of `AssetBlobStore.removeEverything`.
    func removeAssets(of key: Stores.Key, while goesOn: () -> Bool) throws {
        try storage(of: key).removeEverything(while: goesOn)
        AssetLocations.removeFolders(of: key.container, in: folder)
    }

    /// Sets the closure that hears of each store that is opened from now on, and answers who does its work.
    func observeOpening(
        _ worker:
            @escaping @Sendable (Stores.Key, any EngineStore, AssetStore) -> (
                any StoreWorker
            )?
    ) {
        state.withLock { $0.worker = worker }
    }

    /// Forgets a store whose data is gone; what waits for it is woken and finds that out.
    func forget(_ key: Stores.Key) {
        let resources = state.withLock { $0.resources.removeValue(forKey: key) }
        schedule.forget(key)
        resources?.notices.wakeAll()
    }

    /// Takes note that a store has begun anew.
    func beginAnew(_ key: Stores.Key) {
        state.withLock { $0.resources[key] }?.notices.wakeAll()
    }
}
