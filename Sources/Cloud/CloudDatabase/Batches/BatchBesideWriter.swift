import CloudModel
import Storage
import Synchronization

/// Threads for work so long that nobody else should wait for it.
package struct LongWork: Sendable {
    /// Signals that nobody waits for the work any more.
    package let stop: StopSignal
    /// Remembers whose decisions took long.
    let habits: DecisionHabits
    /// Runs work on a thread that may block, in its caller's turn; never on the calling thread.
    package let begin: @Sendable (@escaping @Sendable () -> Void) -> Void

    package init(
        stop: StopSignal, habits: DecisionHabits,
        begin: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.stop = stop
        self.habits = habits
        self.begin = begin
    }
}

/// Remembers whose last decision took long, so that their next one does not hold up the writer first.
package final class DecisionHabits: Sendable {
    /// How many callers are remembered; beyond that all are forgotten, and each must be found out again.
    private static let callersMax = 1_024

    private let long = Mutex<Set<StoreCaller>>([])

    package init() {}

    func isLong(_ caller: StoreCaller) -> Bool {
        long.withLock { !$0.isEmpty && $0.contains(caller) }
    }

    func note(_ caller: StoreCaller, isLong: Bool) {
        long.withLock { long in
            guard isLong else {
                long.remove(caller)
                return
            }
            if long.count >= Self.callersMax { long.removeAll() }
            long.insert(caller)
        }
    }
}

/// Decides a batch on a snapshot while others write, and then has the writer carry it out.
///
/// The writer only checks whether anything has changed that the decision relies on. If something has, the
/// batch is decided again, for a limited number of attempts.
struct BatchBesideWriter: Sendable {
    typealias Completion = @Sendable (Result<[RecordOutcome], any Error>) -> Void

    private let batch: ModifyRecords
    private let load: WriteLoad
    private let work: LongWork
    private let completion: Completion
    private var storage: any Store { batch.database.storage }
    private var limits: ServiceLimits { batch.database.limits }

    init(
        _ batch: ModifyRecords, _ load: WriteLoad, _ work: LongWork,
        completion: @escaping Completion
    ) {
        self.batch = batch
        self.load = load
        self.work = work
        self.completion = completion
    }

    /// Begins; may be called on any thread, and does not block it.
    func begin() { decide(attemptsLeft: limits.decisionAttemptsMax) }

    private func decide(attemptsLeft: Int) {
        attempt(attemptsLeft) {
            let start = DecisionTime.workedNanoseconds()
            let decided = try storage.read(ReadLoad(until: work.stop)) {
                try batch.decide($0, until: work.stop)
            }
            let worked = DecisionTime.workedNanoseconds() - start
            work.habits.note(
                load.caller, isLong: worked / 1_000_000 >= UInt64(limits.writerMillisecondsMax))
            switch decided {
            case .answered(let outcomes): completion(.success(outcomes))
            case .decided(let plan): try handIn(plan, attemptsLeft: attemptsLeft - 1)
            }
        }
    }

    /// Runs a step on a worker; when no attempts are left, tells the caller to try again.
    private func attempt(_ left: Int, _ body: @escaping @Sendable () throws -> Void) {
        guard left > 0 else {
            return completion(
                .failure(
                    Fault.tryAgainLater(
                        "others have changed what the request is about, again and again")))
        }
        work.begin {
            do {
                try body()
            } catch let stopped as WorkStopped {
                // The work was abandoned: nobody waits for its answer.
                guard stopped.reason == .makesRoom else { return }
                work.stop.goOn()
                attempt(left, body)
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Checks what has changed in the meantime, so that the writer has little left to check.
    private func handIn(_ plan: CheckedPlan, attemptsLeft: Int) throws {
        let current = try storage.read(ReadLoad(until: work.stop)) { snapshot in
            try plan.brought(to: snapshot, batch.basis(snapshot, until: work.stop))
        }
        guard let current else { return decide(attemptsLeft: attemptsLeft) }
        storage.write(load) { transaction in
            try batch.carryOut(current, in: transaction)
        } completion: { result in
            switch result {
            case .success(.done(let outcomes)): completion(.success(outcomes))
            case .success(.moved): decide(attemptsLeft: attemptsLeft)
            case .success(.tooManyChanges):
                attempt(attemptsLeft) { try handIn(current, attemptsLeft: attemptsLeft - 1) }
            case .failure(let error): completion(.failure(error))
            }
        }
    }
}

/// A plan together with a check of whether it can still be carried out.
struct CheckedPlan: @unchecked Sendable {
    // Unchecked: it goes from a worker to the writer, and only one of them uses it at a time.
    let plan: BatchPlan
    let check: DecisionCheck

    /// The same plan, checked on a later snapshot; nil when it no longer holds.
    func brought(to snapshot: any StoreSnapshot, _ basis: DecisionBasis) throws -> CheckedPlan? {
        guard case .stands = try check.finding(on: basis) else { return nil }
        return CheckedPlan(plan: plan, check: try check.going(on: snapshot))
    }
}
