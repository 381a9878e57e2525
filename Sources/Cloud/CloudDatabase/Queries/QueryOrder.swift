import CloudModel
import Storage

/// One value that a query sorts by, as a record has it.
enum SortKey: Hashable, Sendable {
    /// The record has no such field; least of all.
    case absent
    case value(IndexValue)
    /// Metres from the place of the sort; infinite without a place.
    case distance(Double)
}

extension SortKey: Comparable {
    static func < (left: SortKey, right: SortKey) -> Bool {
        switch (left, right) {
        case (.value(let left), .value(let right)): left < right
        case (.distance(let left), .distance(let right)): left < right
        case (.absent, .absent): false
        case (.absent, _): true
        default: false
        }
    }
}

/// Where a record stands in a query's order: its sort values, then its number in the store.
struct QueryPlace: Hashable, Sendable {
    var keys: [SortKey]
    var record: RecordNumber
}

/// The total order of a query's results.
///
/// Records without a field come first where it ascends and last where it descends; without a place,
/// last where distances ascend. Text is ordered by its first `IndexValue.textBytesMax` bytes. What is
/// equal by all sorts comes in the order in which the records' names were first used, or the reverse
/// where the first sort descends.
struct QueryOrder: Sendable {
    let sorts: [RecordQuery.Sort]

    /// Whether equal records come last used name first, as a walk of an index downwards shows them.
    var isReversed: Bool { sorts.first?.ascending == false }

    func keys(of record: StoredFields) -> [SortKey] {
        sorts.map { sort in
            if let centre = sort.relativeTo {
                return .distance(
                    record.place(in: sort.subject.name)?.distance(to: centre) ?? .infinity)
            }
            guard case .one(let value) = record.content(of: sort.subject.name) else {
                return .absent
            }
            return .value(value.cut)
        }
    }

    func precedes(_ left: QueryPlace, _ right: QueryPlace) -> Bool {
        for (sort, pair) in zip(sorts, zip(left.keys, right.keys)) where pair.0 != pair.1 {
            return (pair.0 < pair.1) == sort.ascending
        }
        return (left.record.value < right.record.value) != isReversed
            && left.record != right.record
    }
}
