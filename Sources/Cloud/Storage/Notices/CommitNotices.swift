import Dispatch
import Synchronization

/// Tells those who wait what each commit of a store has moved.
///
/// An engine calls `committed` after each commit, once readers can see it and before the writers are
/// answered. Anybody may wait, from any thread, and nobody holds a thread to wait.
///
/// **How a waiter misses nothing.** Note the `mark`, look, and wait since that mark:
///
///     let mark = notices.mark
///     … look at a snapshot that begins now; there is nothing yet …
///     let watch = notices.watch([.zone(zone)], since: mark)
///     watch.whenMoved { notice in … look again … }
///
/// What the look did not see was committed after it, and so after the mark. A commit between the mark and
/// the watch is found by the watch, which then has moved already, whatever the commit moved. A later one
/// tells the watch. The other way round is as safe: `watch`, look, then `whenMoved`. A waiter may be told
/// of what it has seen already. To look first and note the mark afterwards loses what comes in between.
///
/// One object serves a store for as long as somebody may wait, also while its file is closed.
package final class CommitNotices: Sendable {
    private struct State {
        /// How many commits have been told.
        var count: UInt64 = 0
        var position: Position = 0
        var watches: [StorePlace: [ObjectIdentifier: CommitWatch]] = [:]
    }

    private let state = Mutex(State())
    /// Of all stores: who is called must not block.
    static let queue = DispatchQueue(label: "store.notices", qos: .userInitiated)

    package init() {}

    /// Says which commits a look that begins now is certain to see.
    package struct Mark: Sendable, Equatable {
        fileprivate let count: UInt64
    }

    package var mark: Mark { state.withLock { Mark(count: $0.count) } }

    /// How many waits go on, each counted for every place of its own.
    package var waitCount: Int { state.withLock { $0.watches.values.reduce(0) { $0 + $1.count } } }

    /// Begins to wait for the next commit that moves one of some places.
    ///
    /// - Parameter mark: noted before the last look; nil for a look that is still to come. When anything was
    ///   committed since, the watch has moved already.
    package func watch(_ places: Set<StorePlace>, since mark: Mark? = nil) -> CommitWatch {
        let watch = CommitWatch(places, of: self)
        let missed = state.withLock { state -> CommitNotice? in
            if let mark, mark.count != state.count {
                return CommitNotice(position: state.position, places: [])
            }
            for place in places {
                state.watches[place, default: [:]][ObjectIdentifier(watch)] = watch
            }
            return nil
        }
        if let missed { watch.move(missed) }
        return watch
    }

    /// Takes note of a commit; for engines alone, in the order of their commits.
    ///
    /// Costs a lock while nobody waits. Those who wait are called on a queue of the notices' own.
    ///
    /// - Parameters:
    ///   - position: the store's last position.
    ///   - moved: which places moved; asked only while somebody waits.
    package func committed(through position: Position, _ moved: () -> Set<StorePlace>) {
        tell { state in
            state.position = position
            return state.watches.isEmpty ? [] : moved()
        }
    }

    /// Wakes everybody, because the store is about to go or begins anew: they look, and find out.
    package func wakeAll() { tell { Set($0.watches.keys) } }

    private func tell(_ moved: (inout State) -> Set<StorePlace>) {
        let told = state.withLock { state -> (CommitNotice, [[ObjectIdentifier: CommitWatch]])? in
            state.count &+= 1
            let places = moved(&state)
            guard !places.isEmpty else { return nil }
            var found: Set<StorePlace> = []
            var watches: [[ObjectIdentifier: CommitWatch]] = []
            // Whole tables change hands, however many wait in one: the writer is not to wait for them.
            for place in places {
                guard let waiting = state.watches.removeValue(forKey: place) else { continue }
                found.insert(place)
                watches.append(waiting)
            }
            guard !found.isEmpty else { return nil }
            return (CommitNotice(position: state.position, places: found), watches)
        }
        guard let (notice, watches) = told else { return }
        Self.queue.async {
            for watch in watches.lazy.flatMap(\.values) {
                if watch.places.count > 1 { self.forget(watch) }
                watch.move(notice)
            }
        }
    }

    func forget(_ watch: CommitWatch) {
        state.withLock { state in
            for place in watch.places {
                guard state.watches[place]?.removeValue(forKey: ObjectIdentifier(watch)) != nil,
                    state.watches[place]?.isEmpty == true
                else { continue }
                state.watches[place] = nil
            }
        }
    }
}
