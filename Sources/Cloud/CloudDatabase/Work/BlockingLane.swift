import Background
import CloudModel
import Storage

/// Does the work that blocks outside of the store.
///
/// It holds the work for a limited time while a step runs, and notes afterwards what the step did. If a crash
/// cuts a step short, the step is done again.
final class BlockingLane: Sendable {
    /// How long a step may take before another holder may do it too.
    private static let holdMilliseconds: Milliseconds = 600_000
    /// After this it looks again whether another process still does it.
    private static let othersMilliseconds: Milliseconds = 5_000

    private weak let storage: (any Store)?
    private let holder: WorkHolder
    private let options: WorkRunner.Options
    private let kinds: [WorkKind]
    /// Whether what it does is held; not so maintenance, which comes in transactions of its own: nothing of it is
    /// done twice, nor waits for who crashed.
    private let isHeld: Bool
    // Soon again: what fills the disk may be what it removes.
    private let runner = Runner(
        "store.work.blocking", backoff: Backoff(first: 1_000, longest: 5_000))

    init(_ storage: any Store, _ options: WorkRunner.Options, _ holder: WorkHolder) {
        self.storage = storage
        self.options = options
        self.holder = holder
        kinds = Array(options.blocking.keys)
        isHeld = !kinds.contains(.maintenanceBeside)
        runner.use { [weak self] in try self?.step() ?? .never }
    }

    func wake() { runner.wake() }

    var isBusy: Bool { runner.isBusy }

    /// Waits for the step that runs.
    func stop() { runner.stop() }

    private func step() throws -> Runner.Next {
        guard let storage else { return .never }
        do {
            return try step(storage)
        } catch is StoreLease.Lost {
            return .afterPause(nanoseconds: 0)
        }
    }

    private func step(_ storage: any Store) throws -> Runner.Next {
        let (holder, kinds, backoff) = (holder, kinds, options.backoff)
        // Others' work wakes it, too; a look must not take the writer's time.
        guard try storage.read({ try $0.nextWorkMoment(kinds, for: holder) }) != nil else {
            return .whenWoken
        }
        guard let lease = try storage.hold(.work) else {
            return .later(milliseconds: Self.othersMilliseconds)
        }
        let isHeld = isHeld
        let (taken, wait) = try storage.writeAndWait(caller: .background) { transaction in
            try lease.check(in: transaction)
            var turn = WorkTurn(holder, kinds)
            let taken = try transaction.takeWork(
                &turn, heldUntil: isHeld ? transaction.now + Self.holdMilliseconds : nil)
            let next = try transaction.nextWorkMoment(kinds, for: holder)
            return (taken, next.map { max(0, $0 - transaction.now) })
        }
        guard let taken, let work = options.blocking[taken.task.kind] else {
            return wait.map { .later(milliseconds: $0) } ?? .whenWoken
        }
        do {
            let hasMore = try work()
            options.counts.noteDone()
            try storage.writeAndWait(caller: .background) { transaction in
                try lease.check(in: transaction)
                if hasMore {
                    try transaction.advance(taken, to: taken.cursor)
                } else {
                    try transaction.finish(taken)
                }
            }
        } catch let error where !(error is StorageFailure || error is StoreLease.Lost) {
            options.counts.noteFailed()
            if taken.failures == 0 { options.report(taken.task.word, error) }
            try storage.writeAndWait(caller: .background) { transaction in
                try lease.check(in: transaction)
                let wait = backoff.milliseconds(after: taken.failures + 1)
                try transaction.postpone(taken, until: transaction.now + wait)
            }
        }
        return .afterPause(nanoseconds: 0)
    }
}
