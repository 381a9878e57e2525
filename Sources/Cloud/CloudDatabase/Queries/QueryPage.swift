import CloudModel
import JSON
import Storage

/// Fills one page from candidates: judges them, puts them in order and shows them.
final class QueryPage {
    private let reading: QueryReading
    private let source: QuerySource
    private let request: QueryRequest
    private let order: QueryOrder
    private let bytesMax: Int
    private let database: Database
    /// The last place of the previous page.
    private let start: QueryPlace?
    /// The filters for each zone's records, made when the zone's first record is judged.
    private var tests: [[FilterTest]?]
    /// For each filter, whether the index that is read is enough to tell that it matches.
    private let covered: [Bool]

    private var count = 0
    private var bytes = 0
    /// The position of the last change among the records that the page shows.
    private(set) var reach: Position = 0
    /// The last place of the page so far.
    private var last: QueryPlace?

    init(
        _ reading: QueryReading, from source: QuerySource, after start: QueryPlace?,
        for request: QueryRequest, of database: Database
    ) throws {
        self.reading = reading
        self.source = source
        self.start = start
        self.request = request
        self.database = database
        bytesMax = database.limits.pageBytesMax
        order = QueryOrder(sorts: reading.plan.query.sorts)
        tests = reading.zones.map { _ in nil }
        let query = reading.plan.query
        var covered = query.filters.map { _ in false }
        if let chosen = source.filter, query.filters.indices.contains(chosen) {
            for filter in query.joint(with: chosen) {
                // A cut value stands for several; a range's rows tell themselves whether they are cut.
                covered[filter] =
                    query.filters[filter].isCovered
                    && !query.filters[filter].indexValues(in: .defaultZone).contains(
                        where: \.mayBeCut)
            }
        }
        self.covered = covered
    }

    /// Appends the page's records.
    ///
    /// - Returns: the last place of the page; nil when nothing comes after it.
    /// - Throws: `Fault` INTERNAL_ERROR where the first candidate is not what was written.
    func append(to writer: inout JSONWriter) throws -> QueryPlace? {
        let candidates = try reading.candidates(source, after: start)
        do {
            if source.kind == .sorted { return try appendSorted(candidates, to: &writer) }
            if reading.plan.query.sorts.count > 1 {
                return try appendByGroups(candidates, to: &writer)
            }
            return try appendInOrder(candidates, to: &writer)
        } catch is QueryLimitReached where count == reading.limit {
            // The page is full. The next one finds out whether more comes.
            return last
        } catch is DamagedVersion {
            // A page ends before a record that is not what was written; only the next one fails.
            guard count > 0, let last else { throw Fault.recordUnreadable }
            return last
        }
    }

    private var isFull: Bool { count >= reading.limit || bytes >= bytesMax }

    // MARK: - Candidates in the order that is asked for

    private func appendInOrder(
        _ candidates: any Candidates, to writer: inout JSONWriter
    ) throws -> QueryPlace? {
        var shown: QueryPlace?
        while let candidate = try candidates.next() {
            let place = QueryPlace(
                keys: candidate.key.map { [$0] } ?? [], record: candidate.record)
            if let start, !precedes(start, place) { continue }
            try reading.budget.spend(1)
            let isFound = try visit(candidate) { version, _ in
                guard !isFull else { return true }
                try show(version, to: &writer)
                return false
            }
            // It was the first one beyond the page.
            if isFound == true { return shown }
            if isFound == false { shown = place }
            // A marker tells a participant of no place that they are not shown.
            if isFound == false || reading.shared == nil { last = place }
        }
        return nil
    }

    /// The order of a walk: along a filter's index it goes by the values of that one.
    private func precedes(_ left: QueryPlace, _ right: QueryPlace) -> Bool {
        if order.sorts.isEmpty, let first = left.keys.first, let second = right.keys.first,
            first != second
        {
            return first < second
        }
        return order.precedes(left, right)
    }

    // MARK: - Candidates that are to be sorted

    private func appendSorted(
        _ candidates: any Candidates, to writer: inout JSONWriter
    ) throws -> QueryPlace? {
        var found = FirstPlaces(order, countMax: reading.limit + 1)
        while let candidate = try candidates.next() {
            try reading.budget.spend(1)
            try collect(candidate, into: &found)
        }
        return try show(found, to: &writer) ? last : nil
    }

    /// Sorts the records that have the first sort's value in common, group by group.
    private func appendByGroups(
        _ candidates: any Candidates, to writer: inout JSONWriter
    ) throws -> QueryPlace? {
        var group: SortKey?
        var found = FirstPlaces(order, countMax: reading.limit + 1)
        while let candidate = try candidates.next() {
            if candidate.key != group {
                group = candidate.key
                if try show(found, to: &writer) { return last }
                found = FirstPlaces(order, countMax: reading.limit - count + 1)
            }
            try reading.budget.spend(1)
            try collect(candidate, into: &found)
            // One that finds no room is enough to know that more comes.
            if isFull, !found.isEmpty { return last }
        }
        return try show(found, to: &writer) ? last : nil
    }

    private func collect(_ candidate: Candidate, into found: inout FirstPlaces) throws {
        _ = try visit(candidate) { _, fields in
            let place = QueryPlace(
                keys: order.keys(of: try fields.get()), record: candidate.record)
            if start.map({ order.precedes($0, place) }) ?? true { found.insert(place) }
        }
    }

    /// Shows places as far as there is room.
    ///
    /// - Returns: whether there was no room for all.
    private func show(
        _ found: FirstPlaces, to writer: inout JSONWriter
    ) throws -> Bool {
        for place in found.sorted {
            guard !isFull else { return true }
            _ = try reading.reader.version(of: place.record) { try show($0, to: &writer) }
            last = place
        }
        return false
    }

    // MARK: - One record

    /// Hands a candidate for which everything holds to a closure.
    ///
    /// - Returns: what the closure does; nil for a candidate that is none.
    private func visit<Value>(
        _ candidate: Candidate, _ body: (StoredVersion, LazyFields) throws -> Value
    ) throws -> Value? {
        if let shared = reading.shared, try !shared.sees(candidate.record) { return nil }
        let found = try reading.reader.version(of: candidate.record) { version -> Value? in
            guard version.type == reading.type, !version.flags.contains(.tombstone),
                !(reading.shared != nil && isByParent && version.flags.contains(.root))
            else { return nil }
            let fields = LazyFields(version)
            guard try holds(for: candidate, fields) else { return nil }
            return try body(version, fields)
        }
        return found ?? nil
    }

    /// Whether a parent is filtered by, which the root of a shared tree has for its owner only.
    private var isByParent: Bool {
        reading.plan.query.filters.contains { $0.subject == .system(.parent) }
    }

    private func holds(for candidate: Candidate, _ fields: LazyFields) throws -> Bool {
        for (index, test) in try tests(in: candidate.zone).enumerated() {
            if index == source.filter, try !isFirstMember(candidate, fields) { return false }
            if covered[index], candidate.value?.mayBeCut != true { continue }
            guard try test.holds(for: fields.get()) else { return false }
        }
        return true
    }

    private func tests(in zone: Int) throws -> [FilterTest] {
        if let known = tests[zone] { return known }
        let name = reading.zones[zone].name
        let reader = reading.reader
        let made = try reading.plan.query.filters.map {
            try FilterTest($0, in: name, words: reading.words, tokens: reader.words)
        }
        tests[zone] = made
        return made
    }

    /// Whether a record is met for the first time: a prefix may begin several members of its list.
    private func isFirstMember(_ candidate: Candidate, _ fields: LazyFields) throws -> Bool {
        guard let chosen = source.filter, let value = candidate.value else { return true }
        let filter = reading.plan.query.filters[chosen]
        guard filter.comparator == .listMemberBeginsWith,
            let prefix = filter.indexValues(in: reading.zones[candidate.zone].name).first,
            case .many(let members) = try fields.get().content(of: filter.subject.name)
        else { return true }
        return members.filter { $0.begins(with: prefix) }.map(\.cut).min() == value
    }

    private func show(_ version: StoredVersion, to writer: inout JSONWriter) throws {
        if count > 0 { writer.raw(",") }
        try database.append(version, as: request.rendering, from: reading.snapshot, to: &writer)
        count += 1
        reach = max(reach, version.position)
        bytes += version.body.count + 1
    }
}

/// The fields of a version, looked for when they are first asked for.
private final class LazyFields {
    private let version: StoredVersion
    private var known: StoredFields?

    init(_ version: StoredVersion) { self.version = version }

    func get() throws -> StoredFields {
        if let known { return known }
        let read = try version.storedFields()
        known = read
        return read
    }
}

/// The first places of many, in the order of a query.
private struct FirstPlaces {
    private let order: QueryOrder
    private let countMax: Int
    private var places: [QueryPlace] = []

    init(_ order: QueryOrder, countMax: Int) {
        self.order = order
        self.countMax = max(1, countMax)
    }

    var isEmpty: Bool { places.isEmpty }

    mutating func insert(_ place: QueryPlace) {
        places.append(place)
        // Sorted now and then, so that each place costs the logarithm of what is kept.
        if places.count >= 2 * countMax + 16 { places = Array(sorted) }
    }

    var sorted: ArraySlice<QueryPlace> {
        places.sorted { order.precedes($0, $1) }.prefix(countMax)
    }
}
