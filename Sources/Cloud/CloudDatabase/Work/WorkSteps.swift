import CloudModel
import Storage

/// Does each kind of work within a store, one step at a time, in a transaction.
struct WorkSteps: Sendable {
    /// The result of a step.
    struct Outcome {
        /// How much it counts towards the step's limit; at least 1.
        let records: Int
        /// Where the next step begins; nil when there is nothing left.
        let cursor: Int64?
        /// When it begins; nil for at once.
        var moment: Milliseconds?
    }

    /// The kinds, in the order in which they take turns.
    var kinds: [WorkKind] {
        [.cover, .deleteSources] + maintenance.filter { !$0.isBeside }.map { .maintenance($0) }
            + [.collect, .tellRequests]
    }
    /// The kinds that only remove; they go on while the disk is full.
    static let freeingKinds: [WorkKind] = [.deleteSources, .collect]

    let limits: ServiceLimits
    let retentionMilliseconds: Milliseconds
    /// What the engine may leave for itself.
    let maintenance: [Maintenance]

    /// How many records a step of a kind may take.
    func sizes(of kind: WorkKind) -> ClosedRange<Int> {
        switch kind {
        case .cover:
            let most = max(1, limits.shareStepRecordsMax)
            return min(16, most)...most
        case .deleteSources: return 8...256
        case .collect, .collectAssets: return 32...512
        case .tellRequests: return 1...1
        case .maintenance(let maintenance): return maintenance.step
        }
    }

    /// How many records the first step of a kind takes.
    func firstSize(of kind: WorkKind) -> Int {
        if case .maintenance(let maintenance) = kind { maintenance.firstStep } else { 1 }
    }

    /// Does some of the work, and notes how far it came.
    ///
    /// - Returns: how much it counts towards the step's limit.
    func step(
        _ work: StoredWork, recordsMax: Int, in transaction: any StoreTransaction
    ) throws -> Int {
        let outcome = try self.outcome(work, recordsMax, transaction)
        if let moment = outcome.moment {
            try transaction.wait(work, until: moment)
        } else if let cursor = outcome.cursor {
            try transaction.advance(work, to: cursor)
        } else {
            try transaction.finish(work)
        }
        return max(1, outcome.records)
    }

    private func outcome(
        _ work: StoredWork, _ recordsMax: Int, _ transaction: any StoreTransaction
    ) throws -> Outcome {
        switch work.task {
        case .cover(let record, in: let zone):
            return try Coverage.workOff(
                record, in: zone, after: RecordNumber(work.cursor), recordsMax: recordsMax,
                transaction)
        case .deleteSources(of: let target, in: let zone, let position):
            return try SourceDeletion(
                transaction, limits: limits, target: target, in: zone, deletedAt: position
            ).step(after: RecordNumber(work.cursor), recordsMax: recordsMax)
        case .collect:
            let hasMore = try transaction.collect(
                olderThan: transaction.now - retentionMilliseconds, rowsMax: recordsMax)
            let idle = Milliseconds(limits.courierIdleDays) * 86_400_000
            let ended = try transaction.removeCouriers(
                unusedSince: transaction.now - idle, limit: recordsMax)
            return Outcome(
                records: recordsMax, cursor: hasMore || ended == recordsMax ? 0 : nil)
        case .maintenance(let maintenance):
            let hasMore = try transaction.maintain(maintenance, step: recordsMax)
            return Outcome(records: recordsMax, cursor: hasMore ? 0 : nil)
        case .tellRequests(let share):
            let moment = try share.flatMap { try RequestTelling.tell($0, transaction) }
            return Outcome(records: 1, cursor: nil, moment: moment)
        case .collectAssets:
            return Outcome(records: 1, cursor: work.cursor)
        }
    }
}
