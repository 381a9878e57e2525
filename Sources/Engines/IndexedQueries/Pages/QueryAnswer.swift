import CloudModel
import Storage

extension StoreQuery {
    /// The plan.
    ///
    /// Callers that may see only their own records get a filter for these, after all others.
    package var plan: QueryPlan {
        guard case .made(by: let user) = sight else { return QueryPlan(query) }
        var held = query
        held.filters.append(
            RecordQuery.Filter(
                subject: .system(.createdBy), comparator: .equals, type: FieldType(.reference),
                value: .user(user.text)))
        return QueryPlan(held)
    }
}

/// Answers queries on one snapshot, each page by a plan of its own.
package struct QueryAnswer {
    let snapshot: any StoreSnapshot
    let reader: any IndexReading
    let checkStop: () throws -> Void

    /// - Parameter checkStop: throws when the query must end for another reason than its bounds.
    package init(
        _ snapshot: any StoreSnapshot, _ reader: any IndexReading,
        checkStop: @escaping () throws -> Void
    ) {
        self.snapshot = snapshot
        self.reader = reader
        self.checkStop = checkStop
    }

    /// A page of a query, as `QueryReading.page` promises it.
    package func page(
        of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
    ) throws -> QueryCursor? {
        let start = try query.start.map { try QueryStart($0) }
        guard !query.zones.isEmpty else { return nil }
        let plan = query.plan
        do {
            let reading = CandidateReading(
                plan: plan, zones: query.zones, indexes: try wholeIndexes(of: plan, query),
                reader: reader, words: query.words, snapshot: snapshot, type: query.type,
                budget: QueryBudget(query.bounds, checkStop: checkStop), limit: query.limit,
                shared: shared(query))
            if let source = start?.source, source.filter == nil, source.kind != .walk,
                reading.shared?.isWhole == true
            {
                // The cursor is from when trees of the zone were shared; now the whole zone is.
                throw QueryRefusal.unknownCursor
            }
            let source =
                try start?.source
                ?? reading.concealingSource(
                    query.sight, sharedRecordsMax: query.bounds.sharedRecordsMax)
                ?? plan.source(count: reading.count)
            let last = try withoutActuallyEscaping(visit) { visit in
                try QueryPage(
                    reading, from: source, after: start?.sortedRecord, bytesMax: query.bytesMax,
                    visit
                ).show()
            }
            return last.map { QueryStart(source: source, sortedRecord: $0).cursor }
        } catch let missing as MissingIndexes {
            throw QueryUnprepared(
                query, fields: Set(missing.needs.map(\.field)), isLate: missing.isLate)
        }
    }

    private func shared(_ query: StoreQuery) -> SharedRecords? {
        guard case .shared(with: let viewer, isWhole: let isWhole) = query.sight,
            let zone = query.zones.first
        else { return nil }
        return SharedRecords(viewer, in: zone.number, isWhole: isWhole, snapshot)
    }

    /// The indexes of a plan as the snapshot has them.
    private func wholeIndexes(
        of plan: QueryPlan, _ query: StoreQuery
    ) throws -> [IndexNeed: StoredIndex] {
        let needs = plan.needs
        guard !needs.isEmpty else { return [:] }
        var found: [IndexNeed: StoredIndex] = [:]
        for index in try reader.indexes(ofType: query.type)
        where index.state == .whole && needs.contains(index.need) {
            found[index.need] = index
        }
        guard found.count == needs.count else { throw MissingIndexes(needs: needs, isLate: false) }
        for index in found.values {
            for zone in query.zones where try reader.isLate(index.number, in: zone.number) {
                throw MissingIndexes(needs: [index.need], isLate: true)
            }
        }
        return found
    }
}
