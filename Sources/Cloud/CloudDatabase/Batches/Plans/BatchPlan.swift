import CloudModel

/// A decided batch: what each operation will do, or why it fails.
struct BatchPlan {
    /// What the batch takes of the owner's quota.
    struct Room {
        /// How many bytes it adds at most.
        var growth: Int64 = 0
        /// Whether an operation fails because the quota is used up.
        var wasLacking = false
    }

    let context: BatchContext
    let room: Room
    private let state: BatchState

    init(_ context: BatchContext, _ state: BatchState, _ room: Room) {
        self.context = context
        self.state = state
        self.room = room
    }

    /// One for each operation, in their order.
    var steps: [PlannedStep] { state.steps }

    /// Whether every operation will be done.
    var isWhole: Bool { !state.steps.contains(where: \.isFault) }

    /// Whether no operation will be done.
    var isRefused: Bool { state.steps.allSatisfy(\.isFault) }

    /// The schema together with what the steps add to it; nil when they add nothing.
    var schema: Schema? {
        let grown = state.grown
        guard !grown.isEmpty else { return nil }
        var schema = context.schema
        schema.types.merge(grown) { _, grown in grown }
        return schema
    }

    /// Whether the batch leaves a record deleted.
    func isDeleted(_ key: RecordKey) -> Bool {
        if case .deleted = state.outcome(key) { true } else { false }
    }

    /// Whether the batch saves or deletes a record.
    func touches(_ key: RecordKey) -> Bool { state.outcome(key) != nil }

    /// What the batch saves under a name.
    func save(of key: RecordKey) -> PlannedSave? {
        guard case .saved = state.outcome(key), let index = context.indexes[key],
            case .save(let save) = steps[index]
        else { return nil }
        return save
    }

    /// The shares that the batch begins.
    var beginnings: [ShareBeginning] { ShareBeginning.all(in: steps, of: context) }
}
