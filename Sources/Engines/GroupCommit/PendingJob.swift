import Synchronization

/// A job that waits for a group, or runs in one.
package final class PendingJob: Sendable {
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

    private let work: @Sendable () throws -> Void
    private let end: @Sendable ((any Error)?) -> Void

    init(
        cost: Int, bytes: Int = 0, caller: UInt64 = PendingJob.server, frees: Bool = false,
        submittedAt: UInt64, needs: (any Sendable)? = nil,
        work: @escaping @Sendable () throws -> Void = {},
        end: @escaping @Sendable ((any Error)?) -> Void = { _ in }
    ) {
        self.needs = needs
        self.cost = cost
        self.bytes = bytes
        self.caller = caller
        self.frees = frees
        self.submittedAt = submittedAt
        self.work = work
        self.end = end
    }

    /// A job of whose value its submitter is told.
    convenience init<Value: Sendable>(
        cost: Int, bytes: Int, caller: UInt64, frees: Bool, submittedAt: UInt64,
        needs: (any Sendable)?, job: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let outcome = JobOutcome<Value>()
        self.init(
            cost: cost, bytes: bytes, caller: caller, frees: frees, submittedAt: submittedAt,
            needs: needs
        ) {
            try outcome.take(job)
        } end: { groupError in
            completion(groupError.map { .failure($0) } ?? outcome.value)
        }
    }

    /// Runs the job and keeps its value; its error is kept too, and thrown on.
    package func run() throws { try work() }

    /// Tells the submitter: the group's error when there is one, or else the job's own outcome.
    func finish(groupError: (any Error)?) { end(groupError) }
}

/// What came of a job's last run.
private final class JobOutcome<Value: Sendable>: Sendable {
    private let stored = Mutex<Result<Value, any Error>>(.failure(WriterError.closed))

    var value: Result<Value, any Error> { stored.withLock { $0 } }

    func take(_ job: () throws -> Value) throws {
        let result = Result { try job() }
        stored.withLock { $0 = result }
        _ = try result.get()
    }
}
