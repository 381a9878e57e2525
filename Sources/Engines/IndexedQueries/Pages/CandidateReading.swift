import CloudModel
import Storage

/// Reads candidates of one query from the indexes of one snapshot.
struct CandidateReading {
    let plan: QueryPlan
    let zones: [StoredZone]
    let indexes: [IndexNeed: StoredIndex]
    let reader: any IndexReading
    /// For each filter that searches words, those to look for.
    let words: [Int: [[UInt8]]]
    let snapshot: any StoreSnapshot
    let type: Int64
    let budget: QueryBudget
    let limit: Int
    /// What a viewer is shown of another user's zone; nil in databases of their own.
    let shared: SharedRecords?

    private var query: RecordQuery { plan.query }

    /// How many records an index has for a filter, counted up to what may be collected.
    func count(of filter: Int) throws -> Int {
        var count = 0
        for zone in zones {
            let left = QueryPlan.collectedMax - count
            guard left > 0 else { break }
            count += try self.count(of: filter, in: zone, limit: left)
        }
        return count
    }

    private func count(
        of filter: Int, in zone: StoredZone, limit: Int
    ) throws -> Int {
        let access = query.access(by: filter, in: zone.name, words: words)
        let index = try query.filters[filter].indexNeed.map(number) ?? 0
        switch access {
        case .range(let from, let to):
            return try reader.count(
                IndexRange(index: index, zone: zone.number, from: from, to: to), limit: limit)
        case .values(let values):
            try budget.spend(values.count)
            return try reader.count(
                ValueSearch(values: values, index: index, zone: zone.number, zoneIndex: 0),
                limit: limit)
        case .names(let names): return min(names.count, limit)
        case .words(let search):
            return try reader.records(
                of: index, in: zone.number, with: search, after: RecordNumber(0), limit: limit
            ).count
        case .near(let centre, let metres):
            return try centre.boundingBoxes(metres: metres).reduce(0) { count, rectangle in
                count
                    + (try reader.locations(of: index, in: zone.number, rectangle, limit: limit)
                        .count)
            }
        case .nothing: return 0
        }
    }

    private func number(_ need: IndexNeed) throws -> Int64 {
        guard let index = indexes[need] else {
            throw MissingIndexes(needs: plan.needs, isLate: false)
        }
        return index.number
    }

    /// The candidates of a source, from a place on.
    ///
    /// - Parameter start: the last place that was looked at; nil for the beginning.
    func candidates(
        _ source: QuerySource, after start: SortedRecord?
    ) throws -> any Candidates {
        switch source.kind {
        case .walk:
            let descending = query.sorts.first?.ascending == false
            var walks: [any Candidates] = []
            for zoneIndex in zones.indices {
                try budget.spend(1)
                walks.append(try walk(zoneIndex, source.filter, descending, after: start))
            }
            return try MergedCandidates.merging(walks) { left, right in
                if let first = left.key, let second = right.key, first != second {
                    return (first < second) != descending
                }
                return left.record != right.record
                    && (left.record.value < right.record.value) != descending
            }
        case .records, .sorted:
            let after = source.kind == .records ? start?.record : nil
            if source.filter == nil, let shared {
                return try visible(to: shared, after: after ?? RecordNumber(0))
            }
            guard let filter = source.filter, query.filters.indices.contains(filter) else {
                throw QueryRefusal.unknownCursor
            }
            var found: [any Candidates] = []
            for zoneIndex in zones.indices {
                found += try sets(zoneIndex, filter, after: after ?? RecordNumber(0))
            }
            return try MergedCandidates.merging(found) { $0.record.value < $1.record.value }
        }
    }

    // MARK: - Walks

    private func walk(
        _ zoneIndex: Int, _ filter: Int?, _ descending: Bool, after start: SortedRecord?
    ) throws -> any Candidates {
        let zone = zones[zoneIndex].number
        if let filter, query.sorts.first?.relativeTo == nil {
            guard let need = query.filters[filter].indexNeed,
                case .range(let from, let to) = query.access(
                    by: filter, in: zones[zoneIndex].name, words: words)
            else { return KnownCandidates([]) }
            let range = IndexRange(index: try number(need), zone: zone, from: from, to: to)
            return indexWalk([IndexWalk.Section(range: range)], zoneIndex, descending, after: start)
        }
        guard let sort = query.sorts.first else {
            let index = try number(IndexNeed(QueryPlan.listing, .values))
            let range = IndexRange(index: index, zone: zone)
            return indexWalk([IndexWalk.Section(range: range)], zoneIndex, descending, after: start)
        }
        let index = try number(QueryPlan.need(sort))
        if let centre = sort.relativeTo {
            return distanceWalk(zoneIndex, index, centre, sort.ascending, after: start)
        }
        let valued = IndexWalk.Section(range: IndexRange(index: index, zone: zone))
        let absent = IndexWalk.Section(range: .absent(index: index, zone: zone), key: .absent)
        return indexWalk(
            descending ? [valued, absent] : [absent, valued], zoneIndex, descending, after: start)
    }

    private func indexWalk(
        _ sections: [IndexWalk.Section], _ zoneIndex: Int, _ descending: Bool,
        after start: SortedRecord?
    ) -> IndexWalk {
        let remaining = start.map { Self.remaining(of: sections, after: $0, descending, isWhole) }
        return IndexWalk(
            remaining ?? sections, zone: zoneIndex, descending: descending, isKeyed: true,
            rowsAtOnce: max(8, (limit + 1) / max(1, zones.count)), reader: reader)
    }

    /// Whether each place in the order is one row of the index that is walked.
    private var isWhole: Bool { query.sorts.count <= 1 }

    /// What is left of a walk after a place; includes all rows of the place's value when they have an order
    /// of their own.
    private static func remaining(
        of sections: [IndexWalk.Section], after sortedRecord: SortedRecord, _ descending: Bool,
        _ isWhole: Bool
    ) -> [IndexWalk.Section] {
        let value: IndexValue
        let isAbsent: Bool
        switch sortedRecord.keys.first {
        case .value(let known): (value, isAbsent) = (known, false)
        default: (value, isAbsent) = (.integer(0), true)
        }
        guard let first = sections.firstIndex(where: { ($0.key != nil) == isAbsent }) else {
            return sections
        }
        var rest = Array(sections[first...])
        let position: IndexPosition =
            isWhole
            ? IndexPosition(value, sortedRecord.record)
            : descending ? .after(value) : .before(value)
        // A reference has another value in each zone, so the place may lie outside of the range.
        if descending {
            rest[0].range.to = min(rest[0].range.to, position)
        } else {
            rest[0].range.from = max(rest[0].range.from, position)
        }
        return rest
    }

    private func distanceWalk(
        _ zoneIndex: Int, _ index: Int64, _ centre: RecordQuery.Coordinate, _ ascending: Bool,
        after start: SortedRecord?
    ) -> any Candidates {
        let zone = zones[zoneIndex].number
        var metresMax = Double.infinity
        for filter in query.filters where filter.subject == query.sorts.first?.subject {
            guard filter.comparator == .near, case .location(let near) = filter.value else {
                continue
            }
            let metres = filter.distance ?? 0
            // Around another place, the walk may meet somewhat more records than match the filter.
            let reach = (metres + near.distance(to: centre)) * (1 + 1e-9) + 1
            metresMax = min(metresMax, filter.isCircle(around: centre) ? metres : reach)
        }
        var metres: Double?
        if case .distance(let known)? = start?.keys.first { metres = known }
        let rings = DistanceWalk(
            DistanceWalk.Input(
                index: index, zone: (zoneIndex, zone), centre: centre, ascending: ascending,
                metresMax: metresMax, start: metres?.isFinite == true ? metres : nil),
            reader: reader, budget: budget)
        var absent = IndexWalk.Section(
            range: .absent(index: index, zone: zone), key: .distance(.infinity))
        if metres == .infinity, isWhole, let record = start?.record {
            let position = IndexPosition(.integer(0), record)
            if ascending { absent.range.from = position } else { absent.range.to = position }
        }
        let without = IndexWalk(
            [absent], zone: zoneIndex, descending: !ascending, isKeyed: true, rowsAtOnce: limit + 1,
            reader: reader)
        if metresMax.isFinite { return rings }
        if ascending {
            return metres == .infinity ? without : OneAfterTheOther([rings, without])
        }
        return metres?.isFinite == true ? rings : OneAfterTheOther([without, rings])
    }

    // MARK: - Sets

    private func sets(
        _ zoneIndex: Int, _ filter: Int, after: RecordNumber
    ) throws -> [any Candidates] {
        let zone = zones[zoneIndex]
        let access = query.access(by: filter, in: zone.name, words: words)
        let index = try query.filters[filter].indexNeed.map(number) ?? 0
        switch access {
        case .nothing: return []
        case .range(let from, let to):
            let range = IndexRange(index: index, zone: zone.number, from: from, to: to)
            return [
                IndexWalk(
                    [IndexWalk.Section(range: range)], zone: zoneIndex, descending: false,
                    isKeyed: true, rowsAtOnce: 256, reader: reader)
            ]
        case .values(let values):
            try budget.spend(values.count)
            let search = ValueSearch(
                values: values, index: index, zone: zone.number, zoneIndex: zoneIndex)
            return try reader.candidates(search, after: after, limit: limit)
        case .names(let names): return [try named(names, zoneIndex, after: after)]
        case .words(let search):
            return [
                WordWalk(
                    search, of: index, in: (zoneIndex, zone.number), after: after, reader: reader)
            ]
        case .near(let centre, let metres):
            return [try near(centre, metres, index, zoneIndex, after: after)]
        }
    }

    private func named(
        _ names: [RecordName], _ zoneIndex: Int, after: RecordNumber
    ) throws -> KnownCandidates {
        var records: Set<RecordNumber> = []
        try budget.spend(names.count)
        for case let head? in try snapshot.heads(of: names, in: zones[zoneIndex].number) {
            records.insert(head.record)
        }
        return Self.known(records, zoneIndex, after: after)
    }

    private func near(
        _ centre: RecordQuery.Coordinate, _ metres: Double, _ index: Int64, _ zoneIndex: Int,
        after: RecordNumber
    ) throws -> KnownCandidates {
        var records: Set<RecordNumber> = []
        for rectangle in centre.boundingBoxes(metres: metres + LocatedRecord.metresOff) {
            let found = try reader.locations(
                of: index, in: zones[zoneIndex].number, rectangle, limit: budget.rowsAtOnceMax)
            try budget.spend(found.count)
            for placed in found {
                let about = placed.location.distance(to: centre)
                guard about <= metres + LocatedRecord.metresOff else { continue }
                // At the edge, only the record's exact place decides.
                if about > metres - LocatedRecord.metresOff,
                    try !isNear(placed.record, index, centre, metres)
                {
                    continue
                }
                records.insert(placed.record)
            }
        }
        return Self.known(records, zoneIndex, after: after)
    }

    private func isNear(
        _ record: RecordNumber, _ index: Int64, _ centre: RecordQuery.Coordinate, _ metres: Double
    ) throws -> Bool {
        guard let location = try reader.location(of: record, in: index) else { return false }
        return location.distance(to: centre) <= metres
    }

    static func known(
        _ records: Set<RecordNumber>, _ zoneIndex: Int, after: RecordNumber
    ) -> KnownCandidates {
        let sorted = records.filter { $0.value > after.value }.sorted { $0.value < $1.value }
        return KnownCandidates(sorted.map { Candidate(key: nil, record: $0, zone: zoneIndex) })
    }
}

/// Proposes the candidates of several sources, one source after the other.
private final class OneAfterTheOther: Candidates {
    private var rest: ArraySlice<any Candidates>

    init(_ parts: [any Candidates]) { rest = parts[...] }

    func next() throws -> Candidate? {
        while let first = rest.first {
            if let candidate = try first.next() { return candidate }
            rest = rest.dropFirst()
        }
        return nil
    }
}

/// Indexes that a query needs and that are not whole yet, or not for the zones that it asks.
struct MissingIndexes: Error {
    let needs: [IndexNeed]
    /// Whether they are whole, and only lack what was left for later.
    let isLate: Bool
}
