import CloudModel
import Storage

/// Decides a whole batch before anything of it is written (rulings.md 10, 12, 18).
///
/// Operations are decided in their order, against what those before them will have done; references
/// and trees are checked after all. An operation that fails a check is taken out, and what rests on it
/// is decided and checked again, until nothing more fails: nothing rests on what will not happen.
/// Nothing here writes, and nothing here is a rule: those are in files of their own, from the context
/// and the state to a step or a fault.
struct BatchDecision {
    private let context: BatchContext
    private var state: BatchState
    private var schemaCheck: SchemaCheck
    /// Operations that have failed a check.
    private var refused: [Int: Fault] = [:]
    /// Those of them that the state has as failed.
    private var takenOut: Set<Int> = []
    /// What each operation comes to before it is charged; only kept when steps may change.
    private var decided: [DecidedStep] = []
    private let allowance: StepAllowance

    /// - Throws: failures of the machinery only.
    init(_ context: BatchContext) throws {
        self.context = context
        state = BatchState(context, tracks: false)
        schemaCheck = context.database.schemaCheck
        allowance = try StepAllowance(context)
    }

    /// Decides every operation.
    ///
    /// - Throws: `RefusedBatch`, and failures of the machinery.
    mutating func plan() throws -> BatchPlan {
        try decideInOrder()
        if try !isDone() {
            let found = try faults(of: context.operations.indices)
            if !found.isEmpty {
                refused = found
                takenOut = Set(found.keys)
                // Most batches come as far as this without a fault, so only now it is kept in mind
                // who rests on whom.
                state = BatchState(context, tracks: !context.isAtomic)
                try decideInOrder()
                if !context.isAtomic { try spread() }
            }
        }
        return BatchPlan(context, state)
    }

    /// Whether there is nothing to check after all operations.
    private func isDone() throws -> Bool {
        if context.isAtomic, state.steps.contains(where: \.isFault) { return true }
        return !context.actsOnOthers && context.unseen.isEmpty
    }

    // MARK: - In order

    private mutating func decideInOrder() throws {
        var left = allowance
        for index in context.operations.indices {
            let made = try decide(index)
            let step = left.charge(made)
            state.append(step, step.isFault ? nil : made.grown)
            if state.tracks { decided.append(made) }
        }
    }

    private mutating func decide(_ index: Int) throws -> DecidedStep {
        if context.actsOnOthers { try context.takeStep() }
        if let fault = refused[index] { return DecidedStep(step: .fault(fault)) }
        switch context.operations[index] {
        case .fault(_, let fault): return DecidedStep(step: .fault(fault))
        case .operation(let operation):
            let view = BatchView(
                state: state, reader: BatchState.Reader(index: index, stage: .deciding))
            do {
                return try OperationRule(context, view).decide(operation, &schemaCheck)
            } catch let fault as Fault {
                return DecidedStep(step: .fault(fault))
            }
        }
    }

    // MARK: - Checks

    /// What fails after all operations: for its references, else for trees, else because the caller
    /// does not see it.
    private func faults(of indices: some Sequence<Int>) throws -> [Int: Fault] {
        var found = try faults(of: indices, .references)
        if found.isEmpty { found = try faults(of: indices, .trees) }
        return found.isEmpty ? faultsOfUnseen : found
    }

    private func faults(
        of indices: some Sequence<Int>, _ stage: BatchState.Reader.Stage
    ) throws -> [Int: Fault] {
        var found: [Int: Fault] = [:]
        var taken: [RecordKey: RecordName] = [:]
        if stage == .trees {
            found = try NewShareCheck(context, state).faults(&taken)
            guard found.isEmpty else { return found }
        }
        for index in indices {
            guard let operation = context.operation(index) else { continue }
            try context.takeStep()
            let view = BatchView(
                state: state, reader: BatchState.Reader(index: index, stage: stage))
            let step = state.steps[index]
            switch stage {
            case .references:
                found[index] =
                    try ReferenceCheck(context, view).fault(of: step, operation)
                    ?? ParticipantRule(context).faultOfPlace(of: step, operation, view)
            case .trees:
                found[index] = try MoveCheck(context, view, taken).fault(of: step, operation)
            case .deciding: break
            }
        }
        return found
    }

    /// The saves that nothing is wrong with but that they would write over what the caller cannot see.
    private var faultsOfUnseen: [Int: Fault] {
        guard !context.unseen.isEmpty else { return [:] }
        var found: [Int: Fault] = [:]
        for (index, step) in state.steps.enumerated() {
            guard case .save = step, let operation = context.operation(index),
                context.unseen.contains(context.key(operation.name))
            else { continue }
            found[index] = .recordNotFound
        }
        return found
    }

    // MARK: - Spreading

    /// Takes out what fails, and looks again at what rests on it, until nothing more fails.
    private mutating func spread() throws {
        var unchecked: [BatchState.Reader.Stage: Set<Int>] = [
            .references: Set(context.operations.indices), .trees: Set(context.operations.indices),
        ]
        while true {
            var found: [Int: Fault] = [:]
            for stage in [BatchState.Reader.Stage.references, .trees] where found.isEmpty {
                let indices = unchecked[stage]?.sorted() ?? []
                unchecked[stage] = []
                found = try faults(of: indices, stage)
            }
            if found.isEmpty { found = faultsOfUnseen }
            guard !found.isEmpty else { return }
            refused.merge(found) { first, _ in first }
            for index in found.keys {
                state.markStale(BatchState.Reader(index: index, stage: .deciding))
            }
            try decideAgain()
            for reader in state.takeStale() { unchecked[reader.stage]?.insert(reader.index) }
        }
    }

    /// Decides again, in order, what has looked at what has changed.
    private mutating func decideAgain() throws {
        var left = allowance
        for index in context.operations.indices {
            // What is taken out stays so, whatever it has looked at before.
            let isStale =
                state.renew(BatchState.Reader(index: index, stage: .deciding))
                && !takenOut.contains(index)
            if isStale {
                decided[index] = try decide(index)
                if refused[index] != nil { takenOut.insert(index) }
            }
            let step = left.charge(decided[index])
            guard isStale || step.isFault != state.steps[index].isFault else { continue }
            state.replace(index, by: step, step.isFault ? nil : decided[index].grown)
        }
    }
}

/// What all operations of a batch share and each takes from: quota, and records of cascades.
private struct StepAllowance {
    /// `Int64.max` for a database without a quota.
    private var bytes = Int64.max
    private var cascaded = 0
    private let cascadedMax: Int

    init(_ context: BatchContext) throws {
        cascadedMax = context.limits.cascadeRecordsMax
        let quota =
            context.database.scope == .public
            ? context.limits.publicQuotaBytes : context.limits.userQuotaBytes
        if quota > 0 { bytes = quota - (try context.stored.usedBytes(of: context.zone.owner)) }
    }

    /// The step, or a fault when there is not enough for it left.
    mutating func charge(_ decided: DecidedStep) -> PlannedStep {
        switch decided.step {
        case .save:
            guard bytes != .max else { break }
            guard decided.charge.bytes <= 0 || decided.charge.bytes <= bytes else {
                return .fault(Fault(.quotaExceeded, "the quota of this database is used up"))
            }
            bytes -= decided.charge.bytes
        case .delete(let others):
            guard cascaded + decided.charge.cascade <= cascadedMax else {
                return .fault(CascadeRule.tooMany(cascadedMax))
            }
            cascaded += others.count
        case .fault, .nothing, .leave: break
        }
        return decided.step
    }
}

/// What is wrong with one record so that none of the batch is tried (rulings.md 13).
struct RefusedBatch: Error {
    let fault: Fault
}
