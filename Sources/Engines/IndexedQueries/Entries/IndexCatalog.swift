/// Which indexes there are and how whole they are, as a job of the writer sees it.
package struct IndexCatalog: Sendable {
    private var byType: [Int64: [StoredIndex]] = [:]
    /// Moves with every change.
    package private(set) var version = 0

    package init(_ indexes: [StoredIndex] = []) {
        for index in indexes { byType[index.type, default: []].append(index) }
    }

    package var isEmpty: Bool { byType.isEmpty }

    /// Whether an index is to be filled or emptied.
    package var hasWork: Bool { all.contains { $0.state != .whole } }

    /// The numbers of those that queries may use.
    package var whole: Set<Int64> { Set(all.filter { $0.state == .whole }.map(\.number)) }

    package var all: [StoredIndex] { byType.values.flatMap { $0 } }

    package func ofType(_ type: Int64) -> [StoredIndex] { byType[type] ?? [] }

    package mutating func set(_ index: StoredIndex) {
        remove(index)
        byType[index.type, default: []].append(index)
    }

    package mutating func remove(_ index: StoredIndex) {
        version += 1
        byType[index.type]?.removeAll { $0.number == index.number }
        if byType[index.type]?.isEmpty == true { byType[index.type] = nil }
    }
}
