import Background
import CloudModel
import Dispatch
import Storage
import Synchronization

/// Does the work within a store: each step and the note of it are one transaction.
///
/// It does one step at a time. While others write, it pauses after a step for as long as the step and its
/// commit took. So others have half of the writer's time. Alone it takes larger steps and does not pause.
/// What a stop cuts short goes on when the store is opened again.
final class WriterLane: Sendable {
    fileprivate struct State {
        var turn: WorkTurn
        /// By the words of tasks.
        var sizes: [String: StepSize] = [:]
        /// Whether the next step does only work that makes room.
        var isDiskFull = false
        /// The store's count of writes when the last step ended, including the step's own.
        var writes: UInt64 = 0
    }

    /// What a step is given.
    fileprivate struct Step: Sendable {
        var turn: WorkTurn
        let sizes: [String: StepSize]
        let isDiskFull: Bool
    }

    /// What one transaction did.
    fileprivate struct Done: Sendable {
        var turn: WorkTurn
        var task: WorkTask?
        /// How much the step could take.
        var size = StepSize(1...1)
        let startedAt = DispatchTime.now().uptimeNanoseconds
        var nanoseconds: UInt64 = 0
        /// Milliseconds until there is more to do; nil for nothing.
        var wait: Milliseconds?
    }

    /// How much a step counts in a group of the writer, compared to saves.
    private static let cost = 64
    /// After a step that came to nothing.
    fileprivate static let pauseNanoseconds: UInt64 = 1_000_000_000

    private weak let storage: (any Store)?
    private let steps: WorkSteps
    private let options: WorkRunner.Options
    private let runner = Runner("store.work")
    private let state: Mutex<State>

    init(_ storage: any Store, _ options: WorkRunner.Options, _ holder: WorkHolder) {
        self.storage = storage
        self.options = options
        steps = WorkSteps(
            limits: options.limits, retentionMilliseconds: options.retentionMilliseconds)
        state = Mutex(State(turn: WorkTurn(holder, WorkSteps.kinds)))
        runner.use { [weak self] in self?.step() ?? .never }
    }

    func wake() { runner.wake() }

    var isBusy: Bool { runner.isBusy }

    func stop() { runner.goOn(.never) }

    private func step() -> Runner.Next {
        guard let storage else { return .never }
        let step = state.withLock { state in
            var turn = state.turn
            if state.isDiskFull { turn = WorkTurn(turn.holder, WorkSteps.freeingKinds) }
            return Step(turn: turn, sizes: state.sizes, isDiskFull: state.isDiskFull)
        }
        let (steps, taken) = (steps, Taken())
        storage.write(
            WriteLoad(cost: Self.cost, frees: step.isDiskFull, caller: .background)
        ) { transaction in
            try Self.run(step, transaction, steps, taken)
        } completion: { [weak self] result in
            self?.ended(step, result, taken.work.withLock { $0 })
        }
        return .open
    }

    /// Takes work of one kind, or of what the engine calls by one name, until the step is full.
    private static func run(
        _ step: Step, _ transaction: any StoreTransaction, _ steps: WorkSteps, _ taken: Taken
    ) throws -> Done {
        taken.work.withLock { $0 = nil }
        var done = Done(turn: step.turn)
        var recordsLeft = 1
        while true {
            let turn = done.turn
            guard let work = try transaction.takeWork(&done.turn) else { break }
            let word = work.task.word
            if done.task == nil {
                done.size = step.sizes[word] ?? steps.firstSize(of: work.task)
                recordsLeft = done.size.records
            }
            guard recordsLeft > 0, done.task?.word ?? word == word else {
                // Its turn is still to come.
                done.turn = turn
                done.wait = 0
                break
            }
            done.task = work.task
            taken.work.withLock { $0 = work }
            recordsLeft -= try steps.step(work, recordsMax: recordsLeft, in: transaction)
        }
        if done.wait == nil {
            done.wait = try transaction.nextWorkMoment(step.turn.kinds, for: step.turn.holder)
                .map { max(0, $0 - transaction.now) }
        }
        if let kind = done.task?.kind, let index = step.turn.kinds.firstIndex(of: kind) {
            done.turn.next = (index + 1) % step.turn.kinds.count
        }
        done.nanoseconds = DispatchTime.now().uptimeNanoseconds &- done.startedAt
        return done
    }

    private func ended(
        _ step: Step, _ result: Result<Done, any Error>, _ work: StoredWork?
    ) {
        switch result {
        case .success(let done):
            if done.task != nil { options.counts.noteDone() }
            let writes = storage?.notices.writeCount ?? 0
            let whole = DispatchTime.now().uptimeNanoseconds &- done.startedAt
            runner.goOn(state.withLock { $0.ended(step, done, whole: whole, writes: writes) })
        case .failure(let error as StorageFailure):
            // The work itself is not at fault, and no note could be written now.
            if case .full = error { state.withLock { $0.isDiskFull = !step.isDiskFull } }
            tryAgain()
        case .failure(let error): failed(error, work)
        }
    }

    private func tryAgain() { runner.goOn(.afterPause(nanoseconds: Self.pauseNanoseconds)) }

    /// Leaves work for later whose step failed, so that other work goes on.
    private func failed(_ error: any Error, _ work: StoredWork?) {
        options.counts.noteFailed()
        guard let storage, let work else { return tryAgain() }
        if work.failures == 0 { options.report(work.task.word, error) }
        let wait = options.backoff.milliseconds(after: work.failures + 1)
        storage.write(WriteLoad(cost: 1, frees: true, caller: .background)) { transaction in
            try transaction.postpone(work, until: transaction.now + wait)
        } completion: { [weak self] _ in
            // NB: if no note can be written, the next step fails in the same way.
            self?.tryAgain()
        }
    }

    /// The last work that a step has taken.
    private final class Taken: Sendable {
        let work = Mutex<StoredWork?>(nil)
    }
}

extension WriterLane.State {
    fileprivate mutating func ended(
        _ step: WriterLane.Step, _ done: WriterLane.Done, whole: UInt64, writes: UInt64
    ) -> Runner.Next {
        let isAlone = writes &- self.writes <= 1
        self.writes = writes
        if let task = done.task {
            var size = done.size
            size.took(nanoseconds: done.nanoseconds, isAlone: isAlone)
            sizes[task.word] = size
        }
        guard !step.isDiskFull else {
            // There may be room again, for other work too.
            isDiskFull = false
            return .afterPause(nanoseconds: done.wait == 0 ? 0 : WriterLane.pauseNanoseconds)
        }
        turn = done.turn
        return switch done.wait {
        case nil: .whenWoken
        case 0: .afterPause(nanoseconds: isAlone ? 0 : whole)
        case let wait?: .later(milliseconds: wait)
        }
    }
}
