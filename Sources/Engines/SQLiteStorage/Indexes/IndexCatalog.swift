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

    /// The numbers of those that queries may use.
    var whole: Set<Int64> { Set(all.filter { $0.state == .whole }.map(\.number)) }

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
    private let stored: Mutex<IndexCatalog>

    init(_ indexes: IndexCatalog) { stored = Mutex(indexes) }

    var value: IndexCatalog {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
