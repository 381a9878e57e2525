import CloudModel
import Storage

// Filters on one field that are ranges of one index, as from and to of a span are, narrow each other: the
// index is read between the narrowest ends, else every record beyond the other end would be looked at.
extension RecordQuery {
    /// The filters that are ranges of the same index as a filter is, itself among them.
    ///
    /// Members of a list are not one value: each may meet another filter.
    func joint(with filter: Int) -> [Int] {
        guard filters[filter].isRangeOfOne, let need = filters[filter].indexNeed else {
            return [filter]
        }
        return filters.indices.filter {
            filters[$0].isRangeOfOne && filters[$0].indexNeed == need
        }
    }

    /// How the index of a filter is read in one zone, with those that are joint with it.
    ///
    /// - Throws: `Fault` for a text of too many words.
    func access(
        by filter: Int, in zone: ZoneName, words: SearchWords
    ) throws -> FilterAccess {
        let own = try filters[filter].access(in: zone, words: words)
        guard case .range(var from, var to) = own else { return own }
        for other in joint(with: filter) where other != filter {
            guard
                case .range(let otherFrom, let otherTo) = try filters[other].access(
                    in: zone, words: words)
            else { return .nothing }
            from = max(from, otherFrom)
            to = min(to, otherTo)
        }
        return .range(from: from, to: to)
    }
}

extension RecordQuery.Filter {
    /// Whether it holds for a range of the rows of an index in which each record has one row.
    fileprivate var isRangeOfOne: Bool {
        isRange && comparator != .listContains && comparator != .listMemberBeginsWith
    }
}
