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

    /// Nil for one that does nothing.
    private let work: (any JobWork)?

    init(
        cost: Int, bytes: Int = 0, caller: UInt64 = PendingJob.server, frees: Bool = false,
        submittedAt: UInt64, needs: (any Sendable)? = nil, work: (any JobWork)? = nil
    ) {
        self.needs = needs
        self.cost = cost
        self.bytes = bytes
        self.caller = caller
        self.frees = frees
        self.submittedAt = submittedAt
        self.work = work
    }

    /// Runs the job and keeps its value; its error is kept too, and thrown on.
    package func run() throws { try work?.run() }

    /// Tells the submitter: the group's error when there is one, or else the job's own outcome.
    func finish(groupError: (any Error)?) { work?.end(groupError) }
}

/// What a job does, and how its submitter hears of it.
protocol JobWork: AnyObject, Sendable {
    func run() throws

    func end(_ groupError: (any Error)?)
}

/// A job of whose value its submitter is told.
final class ValueWork<Value: Sendable>: JobWork {
    private let job: @Sendable () throws -> Value
    private let completion: @Sendable (Result<Value, any Error>) -> Void
    /// Of the last run.
    private let outcome = Mutex<Result<Value, any Error>>(.failure(WriterError.closed))

    init(
        _ job: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.job = job
        self.completion = completion
    }

    func run() throws {
        let result = Result { try job() }
        outcome.withLock { $0 = result }
        _ = try result.get()
    }

    func end(_ groupError: (any Error)?) {
        completion(groupError.map { .failure($0) } ?? outcome.withLock { $0 })
    }
}
