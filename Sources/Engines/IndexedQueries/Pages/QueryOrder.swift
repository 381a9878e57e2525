import CloudModel
import Storage

/// One value that a query sorts by, as a record has it.
package enum SortKey: Hashable, Sendable {
    /// The record does not have the field; comes before all values.
    case absent
    case value(IndexValue)
    /// The distance in metres from the place of the sort; infinite for a record without a place.
    case distance(Double)
}

extension SortKey: Comparable {
    package static func < (left: SortKey, right: SortKey) -> Bool {
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
struct SortedRecord: Hashable, Sendable {
    var keys: [SortKey]
    var record: RecordNumber
}

/// The total order of a query's results.
///
/// Records without the field come first in ascending order and last in descending order. Records without a
/// place come last when distances ascend. Text is ordered by its first `IndexValue.textBytesMax` bytes.
/// Records that are equal by all sorts come in the order in which their names were first used; in the reverse
/// order when the first sort descends.
struct QueryOrder: Sendable {
    let sorts: [RecordQuery.Sort]

    /// Whether equal records come in the reverse order of first use, as a downward walk of an index shows
    /// them.
    var isReversed: Bool { sorts.first?.ascending == false }

    func keys(of record: StoredFields) -> [SortKey] {
        sorts.map { sort in
            if let centre = sort.relativeTo {
                return .distance(
                    record.location(in: sort.subject.name)?.distance(to: centre) ?? .infinity)
            }
            guard case .one(let value) = record.content(of: sort.subject.name) else {
                return .absent
            }
            return .value(value.cut)
        }
    }

    func precedes(_ left: SortedRecord, _ right: SortedRecord) -> Bool {
        for (sort, pair) in zip(sorts, zip(left.keys, right.keys)) where pair.0 != pair.1 {
            return (pair.0 < pair.1) == sort.ascending
        }
        return (left.record.value < right.record.value) != isReversed
            && left.record != right.record
    }
}
