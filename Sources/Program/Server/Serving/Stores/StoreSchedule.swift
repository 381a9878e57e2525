import CloudModel
import Storage
import Synchronization

/// When each store that is closed has to be opened for work of its own.
///
/// That is when its next queued work is due, or its next upkeep. The catalog has these moments, so that a
/// server that has just started knows them without opening a file.
final class StoreSchedule: Sendable {
    private struct State {
        /// Of stores that are closed.
        var due: [Stores.Key: Milliseconds] = [:]
        /// When upkeep is to be done next.
        var upkeep: [Stores.Key: Milliseconds] = [:]
        /// What the catalog does not have yet.
        var unsaved: [Stores.Key: Milliseconds] = [:]
        var open: Set<Stores.Key> = []
    }

    private let engine: any StorageEngine
    private let clock: Clock
    private let upkeepMilliseconds: Milliseconds
    private let state = Mutex(State())

    /// - Parameter upkeepMilliseconds: how long a closed store is left alone.
    init(engine: any StorageEngine, clock: Clock, upkeepMilliseconds: Milliseconds) {
        self.engine = engine
        self.clock = clock
        self.upkeepMilliseconds = upkeepMilliseconds
    }

    /// Reads what the catalog has of stores that are not open.
    ///
    /// One that a process has left open that ended is due at once.
    func load() throws {
        try ListPage.forEach(engine.stores) { store in
            // Nobody knows what is left in one that was never closed.
            let (key, due) = (store.key, store.due ?? Self.atOnce)
            state.withLock { state in
                // What this process knows and has not saved yet is newer.
                guard !state.open.contains(key), state.unsaved[key] == nil else { return }
                // The earlier counts: another process may have closed it since.
                let loaded = store.isLeftOpen ? Self.atOnce : due
                state.due[key] = min(loaded, state.due[key] ?? .max)
                if state.upkeep[key] == nil { state.upkeep[key] = due }
            }
        }
    }

    /// Stores that have to be opened by now, those first that have been due the longest.
    func dueNow(limit: Int) -> [Stores.Key] {
        let now = clock.now()
        let due = state.withLock { $0.due.filter { $0.value <= now } }
        return due.sorted { $0.value < $1.value }.prefix(limit).map(\.key)
    }

    /// Stores that a process had open when it ended without closing them.
    var leftOpen: [Stores.Key] {
        state.withLock { $0.due.filter { $0.value == Self.atOnce }.map(\.key) }
    }

    /// When a store is due that was left open.
    private static let atOnce: Milliseconds = 0

    func opened(_ key: Stores.Key) {
        state.withLock { state in
            state.open.insert(key)
            state.due[key] = nil
        }
    }

    /// Takes note that a store's upkeep has been queued.
    func upkeepQueued(_ key: Stores.Key) {
        let next = clock.now() + upkeepMilliseconds
        state.withLock { $0.upkeep[key] = next }
    }

    /// Puts off a store that could not be opened.
    func postpone(_ key: Stores.Key) {
        let next = clock.now() + Self.retryMilliseconds
        state.withLock { state in
            if !state.open.contains(key) { state.due[key] = next }
        }
    }

    /// After this a store that could not be opened is tried again.
    private static let retryMilliseconds: Milliseconds = 600_000

    /// - Parameter nextWork: when its next queued work is due; nil for none.
    func closed(_ key: Stores.Key, nextWork: Milliseconds?) {
        let now = clock.now()
        state.withLock { state in
            let upkeep = state.upkeep[key] ?? now + upkeepMilliseconds
            let due = min(nextWork ?? .max, upkeep)
            state.open.remove(key)
            state.upkeep[key] = upkeep
            state.due[key] = due
            state.unsaved[key] = due
        }
        // Work must not wait for longer because the process ends; upkeep may. And of several processes the one that closes
        // last knows best: what is saved later must not be older.
        if nextWork != nil || engine.processes.count > 1 { save() }
    }

    func forget(_ key: Stores.Key) {
        state.withLock { state in
            state.open.remove(key)
            state.due[key] = nil
            state.upkeep[key] = nil
            state.unsaved[key] = nil
        }
    }

    /// Brings to the catalog what has changed.
    func save() {
        let unsaved = state.withLock { state in
            defer { state.unsaved = [:] }
            return state.unsaved
        }
        guard !unsaved.isEmpty else { return }
        do {
            try engine.setDue(unsaved.map { KnownStore(key: $0.key, due: $0.value) })
        } catch {
            // NB: an earlier moment opens a store in vain, and a full disk lets nothing better be written.
            state.withLock { state in
                state.unsaved.merge(unsaved) { later, _ in later }
            }
        }
    }
}
