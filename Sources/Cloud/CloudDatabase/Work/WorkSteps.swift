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
    static let kinds: [WorkKind] = [
        .cover, .deleteSources, .maintenance, .collect, .tellRequests,
    ]
    /// The kinds that only remove; they go on while the disk is full.
    static let freeingKinds: [WorkKind] = [.deleteSources, .collect]

    let limits: ServiceLimits
    let retentionMilliseconds: Milliseconds

    /// How many records the first step of a task takes, and how far that may change.
    func firstSize(of task: WorkTask) -> StepSize {
        switch task {
        case .cover:
            let most = max(1, limits.shareStepRecordsMax)
            return StepSize(min(16, most)...most)
        case .deleteSources: return StepSize(8...256)
        case .collect, .collectAssets: return StepSize(32...512)
        case .tellRequests: return StepSize(1...1)
        case .maintenance(let maintenance):
            return StepSize(maintenance.step, first: maintenance.firstStep)
        }
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
                olderThan: transaction.now - retentionMilliseconds, limit: recordsMax)
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
