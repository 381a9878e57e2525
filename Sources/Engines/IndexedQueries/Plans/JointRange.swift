import CloudModel

// Several filters on one field may be ranges of one index; for example, the start and the end of a time span.
// They narrow each other: the index is read only between the narrowest ends. Otherwise the query would look
// at every record beyond the other end.
extension RecordQuery {
    /// The filters that are ranges of the same index as a given filter, including that one.
    ///
    /// A list is left out: it has many values, and each member may match another filter.
    func joint(with filter: Int) -> [Int] {
        guard filters[filter].isRangeOfOne, let need = filters[filter].indexNeed else {
            return [filter]
        }
        return filters.indices.filter {
            filters[$0].isRangeOfOne && filters[$0].indexNeed == need
        }
    }

    /// How to read a filter's index in one zone, narrowed by the filters that are joint with it.
    ///
    /// - Parameter words: for each filter that searches words, those to look for.
    func access(
        by filter: Int, in zone: ZoneName, words: [Int: [[UInt8]]]
    ) -> FilterAccess {
        let own = filters[filter].access(in: zone, words: words[filter])
        guard case .range(var from, var to) = own else { return own }
        for other in joint(with: filter) where other != filter {
            guard
                case .range(let otherFrom, let otherTo) = filters[other].access(
                    in: zone, words: words[other])
            else { return .nothing }
            from = max(from, otherFrom)
            to = min(to, otherTo)
        }
        return .range(from: from, to: to)
    }
}

extension RecordQuery.Filter {
    /// Whether it matches a range of an index in which each record has one row.
    fileprivate var isRangeOfOne: Bool {
        isRange && comparator != .listContains && comparator != .listMemberBeginsWith
    }
}
