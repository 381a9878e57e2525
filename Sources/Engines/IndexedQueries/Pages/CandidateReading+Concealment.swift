import CloudModel
import Storage

// Queries of callers who may not see all records. Three things must not depend on the unseen records: the
// order of the results, where pages end, and the time that the query takes.
extension CandidateReading {
    /// What the pages are read from when the caller may not see some records of the zone.
    ///
    /// The pages go through the caller's own records, or through the trees that are shared with them, and
    /// look at no others. When there are more than `sharedRecordsMax` of these, an index is read instead. It is chosen
    /// without counting its records.
    ///
    /// - Returns: nil when the caller may see all records.
    func concealingSource(_ sight: QuerySight, sharedRecordsMax: Int) throws -> QuerySource? {
        let kind: QuerySource.Kind = plan.query.sorts.isEmpty ? .records : .sorted
        // The filter for the caller's own records is the last one.
        if case .made = sight {
            return QuerySource(kind: kind, filter: plan.query.filters.count - 1)
        }
        guard let shared, !shared.isWhole else { return nil }
        let visible = try shared.records(ofType: type, staysMax: sharedRecordsMax)
        guard visible == nil else { return QuerySource(kind: kind, filter: nil) }
        return try plan.source { supposedCount(of: $0) }
    }

    /// Proposes the records of the type that a participant sees.
    func visible(to shared: SharedRecords, after: RecordNumber) throws -> KnownCandidates {
        Self.known(
            Set(try shared.records(ofType: type, staysMax: .max) ?? []), 0, after: after)
    }

    /// A guess of how many records a filter finds, by its kind alone.
    private func supposedCount(of filter: Int) -> Int {
        let zone = zones.first?.name ?? .defaultZone
        return switch plan.query.filters[filter].access(in: zone, words: words[filter]) {
        case .nothing: 0
        case .names(let names): names.count
        case .values: QueryPlan.collectedMax / 4
        case .words: QueryPlan.collectedMax / 3
        case .near: QueryPlan.collectedMax / 2
        case .range: QueryPlan.collectedMax
        }
    }
}
