import CloudModel
import Storage

/// Fills one page from candidates: judges them, puts them in order and hands them on.
final class QueryPage {
    private let reading: CandidateReading
    private let source: QuerySource
    private let order: QueryOrder
    private let bytesMax: Int
    private let shown: (StoredVersion) throws -> Void
    /// The last place of the previous page.
    private let start: SortedRecord?
    /// The filters for each zone's records, made when the zone's first record is judged.
    private var tests: [[FilterTest]?]
    /// For each filter, whether the index that is read is enough to tell that it matches.
    private let covered: [Bool]

    private var count = 0
    private var bytes = 0
    /// The last place of the page so far.
    private var last: SortedRecord?

    init(
        _ reading: CandidateReading, from source: QuerySource, after start: SortedRecord?,
        bytesMax: Int, _ shown: @escaping (StoredVersion) throws -> Void
    ) {
        self.reading = reading
        self.source = source
        self.start = start
        self.shown = shown
        self.bytesMax = bytesMax
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

    /// Shows the page's records.
    ///
    /// - Returns: the last place of the page; nil when nothing comes after it.
    /// - Throws: `DamagedVersion` where the first candidate is not what was written.
    func show() throws -> SortedRecord? {
        let candidates = try reading.candidates(source, after: start)
        do {
            if source.kind == .sorted { return try showSorted(candidates) }
            if reading.plan.query.sorts.count > 1 {
                return try showByGroups(candidates)
            }
            return try showInOrder(candidates)
        } catch is QueryRefusal where count == reading.limit {
            // The page is full. The next one finds out whether more comes.
            return last
        } catch let damage as DamagedVersion {
            // A page ends before a record that is not what was written; only the next one fails.
            guard count > 0, let last else { throw damage }
            return last
        }
    }

    private var isFull: Bool { count >= reading.limit || bytes >= bytesMax }

    // MARK: - Candidates in the order that is asked for

    private func showInOrder(_ candidates: any Candidates) throws -> SortedRecord? {
        var end: SortedRecord?
        var isBeyond = false
        while true {
            // One more than there is room for tells whether more comes.
            let run = run(of: candidates, countMax: reading.limit - count + 1)
            try visit(run.candidates) { candidate, version, _ in
                guard !isFull else {
                    isBeyond = true
                    return false
                }
                try show(version)
                end = sortedRecord(of: candidate)
                last = end
                return true
            } passed: { candidate in
                // A marker tells a participant of no place that they are not shown.
                if reading.shared == nil { last = sortedRecord(of: candidate) }
            }
            if isBeyond { return end }
            if let error = run.error { throw error }
            if run.isLast { return nil }
        }
    }

    private func sortedRecord(of candidate: Candidate) -> SortedRecord {
        SortedRecord(keys: candidate.key.map { [$0] } ?? [], record: candidate.record)
    }

    /// Candidates whose versions are read together.
    private struct Run {
        var candidates: [Candidate] = []
        /// Whether no candidates follow.
        var isLast = false
        /// What kept the run from being longer; what comes before it may still be shown.
        var error: (any Error)?
    }

    /// The next candidates, at least one as long as there are some.
    private func run(of candidates: any Candidates, countMax: Int) -> Run {
        var run = Run()
        do {
            while run.candidates.count < max(1, countMax) {
                guard let candidate = try candidates.next() else {
                    run.isLast = true
                    break
                }
                if isInOrder, let start, !precedes(start, sortedRecord(of: candidate)) { continue }
                try reading.budget.spend(1)
                run.candidates.append(candidate)
            }
        } catch { run.error = error }
        return run
    }

    /// Whether candidates come in the order of the page.
    private var isInOrder: Bool {
        source.kind != .sorted && reading.plan.query.sorts.count <= 1
    }

    /// The order of a walk: along a filter's index it goes by the values of that one.
    private func precedes(_ left: SortedRecord, _ right: SortedRecord) -> Bool {
        if order.sorts.isEmpty, let first = left.keys.first, let second = right.keys.first,
            first != second
        {
            return first < second
        }
        return order.precedes(left, right)
    }

    // MARK: - Candidates that are to be sorted

    /// How many candidates are read together where all of them are to be read.
    private static let sortedAtOnce = 256

    private func showSorted(_ candidates: any Candidates) throws -> SortedRecord? {
        var found = FirstInOrder(order, countMax: reading.limit + 1)
        while true {
            let run = run(of: candidates, countMax: Self.sortedAtOnce)
            try visit(run.candidates) { candidate, _, fields in
                try collect(candidate, fields, into: &found)
                return true
            }
            if let error = run.error { throw error }
            if run.isLast { break }
        }
        return try show(found.sorted) ? last : nil
    }

    /// Sorts the records that have the first sort's value in common; such groups come one after the other.
    private func showByGroups(_ candidates: any Candidates) throws -> SortedRecord? {
        var found = FirstInOrder(order, countMax: reading.limit + 1)
        var group: SortKey?
        // How many places the groups have that are whole: they come before all others.
        var whole = 0
        do {
            var isEnough = false
            while !isEnough {
                let run = run(of: candidates, countMax: reading.limit + 1)
                try visit(run.candidates) { candidate, _, fields in
                    if candidate.key != group {
                        group = candidate.key
                        whole = found.count
                    }
                    // One that finds no room is enough to know that more comes.
                    if whole <= reading.limit {
                        try collect(candidate, fields, into: &found)
                    }
                    isEnough = whole >= reading.limit && found.count > reading.limit
                    return !isEnough
                }
                if let error = run.error, !isEnough { throw error }
                if run.isLast { isEnough = true }
            }
        } catch let error where error is QueryRefusal || error is DamagedVersion {
            let isPage = error is DamagedVersion || whole >= reading.limit
            if isPage { _ = try show(found.sorted.prefix(whole)) }
            throw error
        }
        return try show(found.sorted) ? last : nil
    }

    private func collect(
        _ candidate: Candidate, _ fields: LazyFields, into found: inout FirstInOrder
    ) throws {
        let sortedRecord = SortedRecord(
            keys: order.keys(of: try fields.get()), record: candidate.record)
        if start.map({ order.precedes($0, sortedRecord) }) ?? true { found.insert(sortedRecord) }
    }

    /// Shows places as far as there is room.
    ///
    /// - Returns: whether there was no room for all.
    private func show(_ sortedRecords: ArraySlice<SortedRecord>) throws -> Bool {
        let sortedRecords = Array(sortedRecords)
        var isShort = false
        try reading.reader.versions(of: sortedRecords.map(\.record)) { index, version in
            guard !isFull else {
                isShort = true
                return false
            }
            try show(version)
            last = sortedRecords[index]
            return true
        }
        return isShort
    }

    // MARK: - Records

    /// Reads the versions of candidates at once, and hands those for which everything holds to a closure.
    ///
    /// - Parameters:
    ///   - body: false ends the visits.
    ///   - passed: gets those that are none, in the same order.
    private func visit(
        _ candidates: [Candidate],
        _ body: (Candidate, StoredVersion, LazyFields) throws -> Bool,
        passed: (Candidate) -> Void = { _ in }
    ) throws {
        let seen = try reading.shared?.seen(candidates) ?? candidates
        var next = 0
        var goesOn = true
        try reading.reader.versions(of: seen.map(\.record)) { index, version in
            // Those between have no version any more.
            for candidate in seen[next..<index] { passed(candidate) }
            next = index + 1
            let candidate = seen[index]
            let fields = LazyFields(version)
            guard isOfQuery(version), try holds(for: candidate, fields) else {
                passed(candidate)
                return true
            }
            goesOn = try body(candidate, version, fields)
            return goesOn
        }
        if goesOn { for candidate in seen[next...] { passed(candidate) } }
    }

    /// Whether a version is one of the records that are asked for, whatever its fields say.
    private func isOfQuery(_ version: StoredVersion) -> Bool {
        version.type == reading.type && !version.flags.contains(.tombstone)
            && !(reading.shared != nil && isByParent && version.flags.contains(.root))
    }

    /// Whether a parent is filtered by, which the root of a shared tree has for its owner only.
    private var isByParent: Bool {
        reading.plan.query.filters.contains { $0.subject == .system(.parent) }
    }

    private func holds(for candidate: Candidate, _ fields: LazyFields) throws -> Bool {
        for (index, test) in tests(in: candidate.zone).enumerated() {
            if index == source.filter, try !isFirstMember(candidate, fields) { return false }
            if covered[index], candidate.value?.mayBeCut != true { continue }
            guard try test.holds(for: fields.get()) else { return false }
        }
        return true
    }

    private func tests(in zone: Int) -> [FilterTest] {
        if let known = tests[zone] { return known }
        let name = reading.zones[zone].name
        let made = reading.plan.query.filters.enumerated().map { index, filter in
            FilterTest(filter, in: name, words: reading.words[index])
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

    private func show(_ version: StoredVersion) throws {
        try shown(version)
        count += 1
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
private struct FirstInOrder {
    private let order: QueryOrder
    private let countMax: Int
    private var sortedRecords: [SortedRecord] = []

    init(_ order: QueryOrder, countMax: Int) {
        self.order = order
        self.countMax = max(1, countMax)
    }

    /// How many places have been inserted, kept or not.
    private(set) var count = 0

    mutating func insert(_ sortedRecord: SortedRecord) {
        count += 1
        sortedRecords.append(sortedRecord)
        // Sorted now and then, so that each place costs the logarithm of what is kept.
        if sortedRecords.count >= 2 * countMax + 16 { sortedRecords = Array(sorted) }
    }

    var sorted: ArraySlice<SortedRecord> {
        sortedRecords.sorted { order.precedes($0, $1) }.prefix(countMax)
    }
}
