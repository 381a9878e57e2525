import CloudModel
import Storage

/// Decides a whole batch before anything of it is written (rulings.md 10, 12, 18).
///
/// Operations are decided in order. Each sees what those before it will do. References and trees are checked
/// after all of them. An operation that fails a check is taken out. Then everything that relies on it is
/// decided and checked again, until nothing more fails. So no operation relies on one that will not happen.
///
/// This type writes nothing and contains no rules. The rules are in files of their own; each turns the
/// context and the state into a step or a fault.
struct BatchDecision {
    private let context: BatchContext
    private var state: BatchState
    private var schemaCheck: SchemaCheck
    /// Operations that failed a check.
    private var refused: [Int: Fault] = [:]
    /// Those of them that the state already treats as failed.
    private var takenOut: Set<Int> = []
    /// Each operation's decision before it is charged to the allowance; kept only when steps may change.
    private var decided: [DecidedStep] = []
    private let allowance: StepAllowance
    /// What all operations ask of the allowance, whether they get it or not; kept only when steps may change.
    private var demand = StepDemand()
    /// Whether the allowance was too small for all operations at some time.
    private var isShort = false
    /// What the operations get of the allowance.
    private var room = BatchPlan.Room()

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
                // Most batches come this far without a fault. So only now the state starts to remember who
                // relies on which.
                state = BatchState(context, tracks: !context.isAtomic)
                try decideInOrder()
                if !context.isAtomic { try spread() }
            }
        }
        return BatchPlan(context, state, room)
    }

    /// Whether nothing remains to be checked after all operations.
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
            if state.tracks {
                decided.append(made)
                demand.add(made)
                if step.isFault, !made.step.isFault { isShort = true }
            }
        }
        room = left.room
    }

    private mutating func decide(_ index: Int) throws -> DecidedStep {
        if context.actsOnOthers { try context.takeStep() }
        if index > 0 { try context.checkTime() }
        if let fault = refused[index] { return DecidedStep(step: .fault(fault)) }
        switch context.operations[index] {
        case .fault(_, let fault): return DecidedStep(step: .fault(fault))
        case .operation(let operation):
            let view = BatchView(
                state: state, reader: BatchState.Reader(index: index, stage: .deciding))
            do {
                return try OperationRule(context: context, view: view).decide(
                    operation, &schemaCheck)
            } catch let fault as Fault {
                return DecidedStep(step: .fault(fault))
            }
        }
    }

    // MARK: - Checks

    /// The operations that fail after all were decided.
    ///
    /// Each fails for its references, else for trees, else because the caller does not see the record.
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
                    ?? ParticipantRule(context).faultOfLocation(of: step, operation, view)
            case .trees:
                found[index] = try MoveCheck(context, view, taken).fault(of: step, operation)
            case .deciding: break
            }
        }
        return found
    }

    /// Saves with no other fault than that they would overwrite something that the caller cannot see.
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

    /// Takes out what fails, and checks again what relies on it, until nothing more fails.
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
            for index in found.keys { state.decideAgain(index) }
            try decideAgain()
            for reader in state.takeStaleChecks() { unchecked[reader.stage]?.insert(reader.index) }
        }
    }

    /// Decides again, in order, the operations that looked at something that has changed.
    private mutating func decideAgain() throws {
        var stale = StaleOperations(state.takeStaleDecisions())
        while !isShort, let index = stale.takeFirst() {
            guard try decideAgain(index) else { continue }
            put(decided[index].step, at: index)
            // Operations that looked at this one come later in the batch.
            stale.add(state.takeStaleDecisions())
        }
        room = demand.room
        guard isShort || !allowance.hasRoom(for: demand) else { return }
        isShort = true
        try chargeAgain(&stale)
    }

    /// - Returns: false for an operation that was taken out: it stays out, whatever it looked at before.
    private mutating func decideAgain(_ index: Int) throws -> Bool {
        guard !takenOut.contains(index) else { return false }
        demand.remove(decided[index])
        decided[index] = try decide(index)
        demand.add(decided[index])
        if refused[index] != nil { takenOut.insert(index) }
        return true
    }

    /// Hands out the allowance again, to the operations in their order.
    private mutating func chargeAgain(_ stale: inout StaleOperations) throws {
        var left = allowance
        for index in context.operations.indices {
            let isStale = try stale.take(index) && decideAgain(index)
            let step = left.charge(decided[index])
            guard isStale || step.isFault != state.steps[index].isFault else { continue }
            put(step, at: index)
            stale.add(state.takeStaleDecisions())
        }
        room = left.room
    }

    private mutating func put(_ step: PlannedStep, at index: Int) {
        state.replace(index, by: step, step.isFault ? nil : decided[index].grown)
    }
}

/// Operations that must be decided again, in their order.
private struct StaleOperations {
    private var isIn: Set<Int>
    private var ordered: [Int]

    init(_ indices: [Int]) {
        isIn = Set(indices)
        ordered = isIn.sorted(by: >)
    }

    mutating func takeFirst() -> Int? {
        guard let next = ordered.popLast() else { return nil }
        isIn.remove(next)
        return next
    }

    /// Takes an operation out; all before it must have been taken already.
    ///
    /// - Returns: whether it had to be decided again.
    mutating func take(_ index: Int) -> Bool {
        guard ordered.last == index else { return false }
        return takeFirst() != nil
    }

    mutating func add(_ indices: [Int]) {
        for index in indices where isIn.insert(index).inserted {
            let offset = ordered.firstIndex { $0 < index } ?? ordered.count
            ordered.insert(index, at: offset)
        }
    }
}

/// What all operations of a batch share, and each takes from: the quota, and the records of cascades.
private struct StepAllowance {
    /// `Int64.max` for a database without a quota.
    private var bytes = Int64.max
    private var cascaded = 0
    private let cascadedMax: Int
    private(set) var room = BatchPlan.Room()

    init(_ context: BatchContext) throws {
        cascadedMax = context.limits.cascadeRecordsMax
        let quota = context.quotaBytes
        if quota > 0 {
            bytes = quota - (try context.basis.usedBytes(of: context.owner))
        }
        if let total = context.database.quota {
            bytes = min(bytes, try total.left(context.stored))
        }
    }

    /// Whether there is enough for the whole demand, in whatever order the operations take it.
    func hasRoom(for demand: StepDemand) -> Bool {
        demand.cascaded <= cascadedMax && (bytes == .max || demand.growth <= bytes)
    }

    /// Charges a step; turns it into a fault when not enough is left for it.
    mutating func charge(_ decided: DecidedStep) -> PlannedStep {
        switch decided.step {
        case .save:
            guard bytes != .max else { break }
            guard decided.charge.bytes <= 0 || decided.charge.bytes <= bytes else {
                room.wasLacking = true
                return .fault(
                    Fault(
                        .quotaExceeded, "the quota of this database or its container is used up"
                    ).because(.quotaUsedUp))
            }
            bytes -= decided.charge.bytes
            room.growth += max(0, decided.charge.bytes)
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

/// What operations ask of their allowance, all together.
private struct StepDemand {
    private(set) var growth: Int64 = 0
    private(set) var cascaded = 0

    var room: BatchPlan.Room { BatchPlan.Room(growth: growth) }

    mutating func add(_ decided: DecidedStep) { change(by: decided, 1) }

    mutating func remove(_ decided: DecidedStep) { change(by: decided, -1) }

    private mutating func change(by decided: DecidedStep, _ sign: Int) {
        switch decided.step {
        case .save: growth += Int64(sign) * max(0, decided.charge.bytes)
        case .delete(let others):
            cascaded += sign * max(others.count, decided.charge.cascade)
        case .fault, .nothing, .leave: break
        }
    }
}

/// A fault of one record that stops the whole batch before anything of it is tried (rulings.md 13).
struct RefusedBatch: Error {
    let fault: Fault
}
