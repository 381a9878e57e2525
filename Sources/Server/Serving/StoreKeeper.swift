import AssetStorage
import CloudModel
import SQLite
import SQLiteStorage
import Storage
import Synchronization
import WebServices

/// Opens and closes the stores of a data folder, and keeps what outlives an opening.
///
/// What waits for a store's commits, claims its assets and goes on with its numbers stays while its file is
/// closed. It is kept for stores that have been opened, so that no stranger's request adds to it.
final class StoreKeeper: Sendable {
    /// What stays of a store while it is closed.
    private struct Kept {
        let notices: CommitNotices
        let depot: AssetDepot
        var life: StoreLife?
        /// Whether what an earlier process was at has been removed.
        var isClean = false
    }

    private struct State {
        var kept: [Stores.Key: Kept] = [:]
        /// What writers have done whose stores are closed.
        var closed = WriterMeasurements()
        /// Told of each store that is opened.
        var attach: @Sendable (Stores.Key, SQLiteStore, AssetDepot) -> Void = { _, _, _ in }
    }

    private let opener: StoreOpener
    private let assetPlaces: AssetPlaces
    /// What links of assets are made by.
    private let assets: Mutex<AssetOptions>
    private let schedule: StoreSchedule
    private let state = Mutex(State())

    init(
        opener: StoreOpener, assetPlaces: AssetPlaces, assets: AssetOptions,
        schedule: StoreSchedule
    ) {
        self.opener = opener
        self.assetPlaces = assetPlaces
        self.assets = Mutex(assets)
        self.schedule = schedule
    }

    /// Has links of stores that are opened from now on begin with an address that is known by now.
    func link(by options: AssetOptions) { assets.withLock { $0 = options } }

    /// Opens a store; blocks while it is made, migrated or recovered.
    ///
    /// - Throws: as `StoreOpener.open`; `StorageFailure.tooManyFiles`; `AssetFailure`.
    func open(_ key: Stores.Key) throws -> Stores.Opened {
        do {
            return try opened(key)
        } catch {
            // Whatever failed for it, by whichever call, may succeed in a moment.
            throw DescriptorRoom.isUsedUp ? StorageFailure.tooManyFiles : error
        }
    }

    private func opened(_ key: Stores.Key) throws -> Stores.Opened {
        let known = state.withLock { $0.kept[key] }
        let kept =
            known
            ?? Kept(
                notices: CommitNotices(), depot: AssetDepot(storage(of: key)))
        let store = try opener.open(key, notices: kept.notices, life: kept.life)
        // What an earlier process was at; this one has not begun.
        if !kept.isClean {
            do { try kept.depot.storage.removeUnfinished() } catch {
                store.close()
                throw error
            }
        }
        let (attach, depot) = state.withLock { state in
            // Somebody may have asked for the assets meanwhile.
            let depot = state.kept[key]?.depot ?? kept.depot
            state.kept[key] = Kept(
                notices: kept.notices, depot: depot, life: nil, isClean: true)
            return (state.attach, depot)
        }
        let seen: OpenStore
        do {
            seen = try OpenStore(
                store, of: key.container, in: key.environment, depot: depot,
                assets: assets.withLock { $0 })
        } catch {
            store.close()
            throw error
        }
        schedule.opened(key)
        attach(key, store, depot)
        return Stores.Opened(store: store, seen: seen)
    }

    /// Closes a store.
    ///
    /// - Parameter isUnused: whether nobody has a lease of it.
    func close(_ key: Stores.Key, _ opened: Stores.Opened, isUnused: Bool) {
        let rest = opened.store.close(isUnused: isUnused)
        state.withLock { state in
            state.kept[key]?.life = rest.life
            state.closed.add(rest.measurements)
        }
        schedule.closed(key, nextWork: rest.nextWork)
    }

    /// Whether a store must not be closed although nobody has a lease of it.
    ///
    /// On a full disk it might not be opened again.
    func isBusy(_ opened: Stores.Opened) -> Bool {
        opened.store.isWorking || opened.store.isDiskFull
    }

    /// What writers have done whose stores are closed.
    var closedMeasurements: WriterMeasurements { state.withLock { $0.closed } }

    /// The assets of a container environment, whether its store is open or not.
    func depot(of key: Stores.Key) -> AssetDepot {
        state.withLock { state in
            if let known = state.kept[key] { return known.depot }
            let depot = AssetDepot(storage(of: key))
            state.kept[key] = Kept(notices: CommitNotices(), depot: depot)
            return depot
        }
    }

    /// The bytes of assets of a container environment.
    func storage(of key: Stores.Key) -> any AssetStorage {
        assetPlaces.storage(of: key, in: opener.files.folder)
    }

    /// Says whom to tell of each store that is opened from now on.
    func observeOpening(
        _ attach: @escaping @Sendable (Stores.Key, SQLiteStore, AssetDepot) -> Void
    ) {
        state.withLock { $0.attach = attach }
    }

    /// Forgets a store whose data is gone; who waits for it is woken and finds that out.
    func forget(_ key: Stores.Key) {
        let kept = state.withLock { $0.kept.removeValue(forKey: key) }
        schedule.forget(key)
        kept?.notices.wakeAll()
    }

    /// Takes note that a store has begun anew.
    func beginAnew(_ key: Stores.Key) {
        let notices = state.withLock { state in
            state.kept[key]?.life = nil
            return state.kept[key]?.notices
        }
        notices?.wakeAll()
    }
}
