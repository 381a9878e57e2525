import CloudModel
import SQLite
import Storage
import Synchronization

/// Which indexes there are and how whole they are, as a job of the writer sees it.
struct IndexCatalog: Sendable {
    private var byType: [Int64: [StoredIndex]] = [:]
    /// Moves with every change.
    private(set) var version = 0

    init(_ indexes: [StoredIndex] = []) {
        for index in indexes { byType[index.type, default: []].append(index) }
    }

    var isEmpty: Bool { byType.isEmpty }

    /// Whether an index is to be filled or emptied.
    var hasWork: Bool { all.contains { $0.state != .whole } }

    var all: [StoredIndex] { byType.values.flatMap { $0 } }

    func ofType(_ type: Int64) -> [StoredIndex] { byType[type] ?? [] }

    mutating func set(_ index: StoredIndex) {
        remove(index)
        byType[index.type, default: []].append(index)
    }

    mutating func remove(_ index: StoredIndex) {
        version += 1
        byType[index.type]?.removeAll { $0.number == index.number }
        if byType[index.type]?.isEmpty == true { byType[index.type] = nil }
    }
}

/// The indexes as of the last commit, for any thread.
final class PublishedIndexes: Sendable {
    private struct State {
        var catalog: IndexCatalog
        var waiters: [MonotonicSemaphore] = []
    }

    private let state: Mutex<State>

    init(_ indexes: IndexCatalog) { state = Mutex(State(catalog: indexes)) }

    var value: IndexCatalog {
        get { state.withLock { $0.catalog } }
        set {
            state.withLock { state in
                state.catalog = newValue
                for waiter in state.waiters { waiter.signal() }
                state.waiters.removeAll()
            }
        }
    }

    /// Blocks until the indexes are others than a version of them, or the time is over.
    ///
    /// - Returns: false when the time was over first.
    func wait(otherThan version: Int, nanoseconds: UInt64) -> Bool {
        let changed = MonotonicSemaphore()
        let isOther = state.withLock { state in
            guard state.catalog.version == version else { return true }
            state.waiters.append(changed)
            return false
        }
        return isOther || changed.wait(nanoseconds: nanoseconds)
    }
}
