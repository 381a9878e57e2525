import Dispatch
import Synchronization

/// Tells waiters what each commit of a store has changed.
///
/// An engine calls `committed` after each commit: once readers can see it, and before the writers get their
/// answers. Anybody may wait, on any thread. Waiting holds no thread.
///
/// **How a waiter misses nothing.** Note the `mark`, look, and wait since that mark:
///
///     let mark = notices.mark
///     … look at a snapshot that begins now; there is nothing yet …
///     let watch = notices.watch([.zone(zone)], since: mark)
///     watch.whenMoved { notice in … look again … }
///
/// What the look did not see was committed after the look, and so after the mark. There are two cases. A
/// commit between the mark and the watch: the watch finds it, and begins as moved, whatever that commit
/// changed. A later commit: it tells the watch. Another order is just as safe: `watch`, look, then
/// `whenMoved`. In both orders, a waiter may be told of something that it has already seen.
///
/// Do not look first and note the mark afterwards: you would miss what comes in between.
///
/// One object serves a store for as long as somebody may wait, also while the store is closed.
package final class CommitNotices: Sendable {
    private struct State {
        /// How many commits were told.
        var count: UInt64 = 0
        var writes: UInt64 = 0
        var position: Position = 0
        var watches: [StorePart: [ObjectIdentifier: CommitWatch]] = [:]
    }

    /// Those whom one commit concerns.
    private struct Concerned {
        var parts: Set<StorePart> = []
        var watches: [[ObjectIdentifier: CommitWatch]] = []
    }

    private let state = Mutex(State())
    /// Calls the waiters of all stores, so no waiter may block on it.
    static let queue = DispatchQueue(label: "store.notices", qos: .userInitiated)

    package init() {}

    /// Marks a moment: a look that begins afterwards is certain to see all commits before it.
    package struct Mark: Sendable, Hashable {
        fileprivate let count: UInt64
    }

    package var mark: Mark { state.withLock { Mark(count: $0.count) } }

    /// How many writes there were in the commits that were told.
    package var writeCount: UInt64 { state.withLock { $0.writes } }

    /// How many waits there are; a watch of several places counts once for each.
    package var waitCount: Int { state.withLock { $0.watches.values.reduce(0) { $0 + $1.count } } }

    /// How many wait for one place.
    package func waitCount(for part: StorePart) -> Int {
        state.withLock { $0.watches[part]?.count ?? 0 }
    }

    /// Whether what is handed at a place now would be taken: somebody waits there, and nobody who only looks.
    package func takes(at part: StorePart) -> Bool {
        state.withLock { Self.taker(at: part, in: $0) != nil }
    }

    /// Begins to wait for the next commit that changes one of some places.
    ///
    /// - Parameter mark: noted before the last look; nil when the look is still to come. If anything was
    ///   committed since the mark, the watch has moved already.
    package func watch(_ parts: Set<StorePart>, since mark: Mark? = nil) -> CommitWatch {
        let watch = CommitWatch(parts, of: self)
        let missed = state.withLock { state -> CommitNotice? in
            if let mark, mark.count != state.count {
                return CommitNotice(position: state.position, parts: [])
            }
            for part in parts {
                state.watches[part, default: [:]][ObjectIdentifier(watch)] = watch
            }
            return nil
        }
        if let missed { watch.move(missed) }
        return watch
    }

    /// Takes note of a commit; only engines call it, in the order of their commits.
    ///
    /// It costs one lock while nobody waits. Waiters are called on a queue of the notices' own.
    ///
    /// - Parameters:
    ///   - position: the store's last position.
    ///   - writes: how many writes the commit had.
    ///   - tellMoved: called only while somebody waits; hands in each place that changed, once or more often.
    package func committed(
        through position: Position, writes: Int,
        _ tellMoved: (_ moved: (StorePart) -> Void) -> Void
    ) {
        tell { state, concerned in
            state.writes &+= UInt64(writes)
            state.position = position
            guard !state.watches.isEmpty else { return }
            tellMoved { Self.take($0, from: &state, into: &concerned) }
        }
    }

    /// Takes note of commits of other processes, of which nobody here knows what they changed: all waiters look again.
    ///
    /// - Parameter unmoved: parts that are known not to have changed: who waits for these goes on waiting.
    package func committedElsewhere(through position: Position, but unmoved: Set<StorePart>) {
        tell { state, concerned in
            state.position = max(state.position, position)
            for part in state.watches.keys where !unmoved.contains(part) {
                Self.take(part, from: &state, into: &concerned)
            }
        }
    }

    /// Wakes all waiters, because the store is about to go or to begin anew: they look again and find out.
    package func wakeAll() {
        tell { state, concerned in
            for part in state.watches.keys { Self.take(part, from: &state, into: &concerned) }
        }
    }

    /// Takes a whole table out, however many wait in it, so that the writer does not wait for them.
    private static func take(
        _ part: StorePart, from state: inout State, into concerned: inout Concerned
    ) {
        guard let waiting = state.watches.removeValue(forKey: part) else { return }
        concerned.parts.insert(part)
        concerned.watches.append(waiting)
    }

    private func tell(_ find: (inout State, inout Concerned) -> Void) {
        let told = state.withLock { state -> (CommitNotice, [[ObjectIdentifier: CommitWatch]])? in
            state.count &+= 1
            var concerned = Concerned()
            find(&state, &concerned)
            guard !concerned.parts.isEmpty else { return nil }
            return (
                CommitNotice(position: state.position, parts: concerned.parts), concerned.watches
            )
        }
        guard let (notice, watches) = told else { return }
        Self.queue.async {
            for watch in watches.lazy.flatMap(\.values) {
                if watch.parts.count > 1 { self.forget(watch) }
                watch.move(notice)
            }
        }
    }

    /// Hands something to one who waits for a place and takes it, as if a commit had moved the place.
    ///
    /// Anyone who waits has seen all commits so far that moved the place. So what is handed is the next that they
    /// must hear of, if no commit that moves the place comes meanwhile.
    ///
    /// - Returns: false when nobody takes it, and when one waits there who only looks for themselves.
    package func hand(_ handed: HandedNotice, at part: StorePart) -> Bool {
        while let watch = takeOne(at: part) {
            if watch.hand(handed) { return true }
        }
        return false
    }

    private func takeOne(at part: StorePart) -> CommitWatch? {
        state.withLock { state in
            // Nothing holds the list by then: it would be copied for each that is taken out of it.
            guard let (key, watch) = Self.taker(at: part, in: state) else { return nil }
            for part in watch.parts { Self.drop(key, at: part, from: &state) }
            return watch
        }
    }

    private static func taker(
        at part: StorePart, in state: State
    ) -> (key: ObjectIdentifier, value: CommitWatch)? {
        state.watches[part].flatMap { $0.values.allSatisfy(\.takes) ? $0.first : nil }
    }

    private static func drop(
        _ key: ObjectIdentifier, at part: StorePart, from state: inout State
    ) {
        guard state.watches[part]?.removeValue(forKey: key) != nil,
            state.watches[part]?.isEmpty == true
        else { return }
        state.watches[part] = nil
    }

    func forget(_ watch: CommitWatch) {
        state.withLock { state in
            for part in watch.parts {
                Self.drop(ObjectIdentifier(watch), at: part, from: &state)
            }
        }
    }
}
