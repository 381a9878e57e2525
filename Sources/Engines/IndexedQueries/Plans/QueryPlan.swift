import CloudModel

/// The indexes that a query needs, and the choice of what it reads its records from.
///
/// Every filter that can find records has its index; the query reads the one with the fewest records, and
/// judges records by the other filters. With sorts, there are two ways. A few records are collected and
/// sorted. When there are many, the index of the first sort is walked instead, until a page is full.
package struct QueryPlan {
    /// Up to this many records, it is better to collect and sort them than to walk an index in order.
    static let collectedMax = 2_000
    /// The field that every record has: its index lists the records of a type.
    static let listing = SystemField.recordID.rawValue

    let query: RecordQuery

    init(_ query: RecordQuery) { self.query = query }

    /// The indexes that must be whole.
    package var needs: [IndexNeed] {
        var needs = Set(query.filters.compactMap(\.indexNeed))
        if let sort = query.sorts.first {
            needs.insert(Self.need(sort))
        } else if !query.filters.contains(where: \.findsRecords) {
            needs.insert(IndexNeed(Self.listing, .values))
        }
        return Array(needs)
    }

    static func need(_ sort: RecordQuery.Sort) -> IndexNeed {
        IndexNeed(sort.subject.name, sort.relativeTo == nil ? .values : .locations)
    }

    /// What the pages of the query are read from.
    ///
    /// - Parameter count: how many records an index has for a filter, counted up to `collectedMax`.
    func source(count: (Int) throws -> Int) throws -> QuerySource {
        let finding = query.filters.indices.filter {
            query.filters[$0].findsRecords && query.joint(with: $0).first == $0
        }
        guard query.sorts.isEmpty else { return try sortedSource(finding, count) }
        guard let first = finding.first else { return QuerySource(kind: .walk, filter: nil) }
        let best = finding.count == 1 ? first : try least(finding, count).filter
        return QuerySource(kind: query.filters[best].isRange ? .walk : .records, filter: best)
    }

    private func sortedSource(
        _ finding: [Int], _ count: (Int) throws -> Int
    ) throws -> QuerySource {
        let alongSort = finding.first { isAlongSort(query.filters[$0]) }
        if finding == [alongSort] { return QuerySource(kind: .walk, filter: alongSort) }
        if !finding.isEmpty {
            let best = try least(finding, count)
            if best.count < Self.collectedMax {
                return QuerySource(kind: .sorted, filter: best.filter)
            }
        }
        return QuerySource(kind: .walk, filter: alongSort)
    }

    /// Whether the filter matches one part of the first sort's walk.
    ///
    /// That is a range of the sort's index, or a circle around the place from which it measures.
    private func isAlongSort(_ filter: RecordQuery.Filter) -> Bool {
        guard let sort = query.sorts.first else { return false }
        if let centre = sort.relativeTo {
            return filter.subject == sort.subject && filter.isCircle(around: centre)
        }
        return filter.isRange && filter.indexNeed == Self.need(sort)
    }

    private func least(
        _ finding: [Int], _ count: (Int) throws -> Int
    ) throws -> (filter: Int, count: Int) {
        var best = (filter: finding[0], count: Int.max)
        for filter in finding {
            let found = try count(filter)
            if found < best.count { best = (filter, found) }
        }
        return best
    }
}
