/// A job that waits for a group, or runs in one.
package class PendingJob: @unchecked Sendable {
    // Handed once from the submitter to the committer's queue; only one of them touches it at a time.

    /// The caller of jobs that nobody in particular has asked for.
    static let server: UInt64 = 0
    /// The caller of what the process does by itself and in its own time.
    static let background: UInt64 = 1

    let cost: Int
    /// About how many bytes it brings.
    let bytes: Int
    /// Whom it counts to.
    let caller: UInt64
    /// Whether the job may run while the disk is full, because it makes room.
    let frees: Bool
    /// When it was handed in, by the writer's clock.
    let submittedAt: UInt64
    /// What its submitter has said about it to the engine.
    package let needs: (any Sendable)?

    init(
        cost: Int, bytes: Int = 0, caller: UInt64 = PendingJob.server, frees: Bool = false,
        submittedAt: UInt64, needs: (any Sendable)? = nil
    ) {
        self.needs = needs
        self.cost = cost
        self.bytes = bytes
        self.caller = caller
        self.frees = frees
        self.submittedAt = submittedAt
    }

    /// Runs the job and keeps its value; its error is kept too, and thrown on.
    package func run() throws {}

    /// Tells the submitter: the group's error when there is one, or else the job's own outcome.
    func finish(groupError: (any Error)?) {}
}

/// A pending job with the type of its value.
final class TypedJob<Value: Sendable>: PendingJob, @unchecked Sendable {
    // As its superclass.

    private let job: @Sendable () throws -> Value
    private let completion: @Sendable (Result<Value, any Error>) -> Void
    private var outcome: Result<Value, any Error> = .failure(WriterError.closed)

    init(
        cost: Int, bytes: Int, caller: UInt64, frees: Bool, submittedAt: UInt64,
        needs: (any Sendable)?,
        job: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.job = job
        self.completion = completion
        super.init(
            cost: cost, bytes: bytes, caller: caller, frees: frees, submittedAt: submittedAt,
            needs: needs)
    }

    override package func run() throws {
        outcome = Result { try job() }
        _ = try outcome.get()
    }

    override func finish(groupError: (any Error)?) {
        completion(groupError.map { .failure($0) } ?? outcome)
    }
}
