import CloudModel
import Storage

// Queries where records are kept from the caller: neither the order of what they find, nor the marker,
// nor the time that it takes may depend on them.
extension QueryReading {
    /// What the pages are read from when the caller may not see some records of the zone.
    ///
    /// The pages go through the caller's own records, or those of the trees that they are shown, and look at
    /// no others. Where these are very many (`limits.sharedQueryRecordsMax`), an index is read instead, chosen
    /// without counting what it has.
    ///
    /// - Returns: nil when nothing is kept from them.
    func concealingSource(
        _ access: QueryAccess, _ limits: ServiceLimits
    ) throws -> QuerySource? {
        let kind: QuerySource.Kind = plan.query.sorts.isEmpty ? .records : .sorted
        // The filter for the caller's own records is the last one.
        if case .own = access {
            return QuerySource(kind: kind, filter: plan.query.filters.count - 1)
        }
        guard let shared, shared.wholeZone == nil else { return nil }
        let visible = try shared.records(ofType: type, staysMax: limits.sharedQueryRecordsMax)
        guard visible == nil else { return QuerySource(kind: kind, filter: nil) }
        return try plan.source { try supposedCount(of: plan.query.filters[$0]) }
    }

    /// Proposes what a participant sees of the type.
    func visible(to shared: ZoneAccess, after: RecordNumber) throws -> KnownCandidates {
        Self.known(
            Set(try shared.records(ofType: type, staysMax: .max) ?? []), 0, after: after)
    }

    /// How many records a filter is supposed to find, by its kind alone.
    private func supposedCount(of filter: RecordQuery.Filter) throws -> Int {
        switch try filter.access(in: zones.first?.name ?? .defaultZone, words: words) {
        case .nothing: 0
        case .names(let names): names.count
        case .values: QueryPlan.collectedMax / 4
        case .words: QueryPlan.collectedMax / 3
        case .near: QueryPlan.collectedMax / 2
        case .range: QueryPlan.collectedMax
        }
    }
}
