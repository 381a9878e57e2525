import CloudModel
import Dispatch
import Storage
import Synchronization

/// Does the work that blocks outside of the store.
///
/// It holds the work for a limited time while a step runs, and notes afterwards what the step did. If a crash
/// cuts a step short, the step is done again.
final class BlockingLane: Sendable {
    /// How long a step may take before another holder may do it too.
    private static let holdMilliseconds: Milliseconds = 600_000

    private weak let storage: (any Store)?
    private let holder: WorkHolder
    private let options: WorkRunner.Options
    private let kinds: [WorkKind]
    private let queue = DispatchQueue(label: "store.work.blocking", qos: .utility)
    private let activity = Mutex(LaneActivity())

    init(_ storage: any Store, _ options: WorkRunner.Options, _ holder: WorkHolder) {
        self.storage = storage
        self.options = options
        self.holder = holder
        kinds = options.blocking.keys.sorted { $0.rawValue < $1.rawValue }
    }

    func wake() {
        if activity.withLock({ $0.wake() }) { begin(.init(nanoseconds: 0, wait: nil)) }
    }

    var isBusy: Bool { activity.withLock { $0.isBusy } }

    /// Waits for the step that runs.
    func stop() {
        activity.withLock { $0.stop() }
        queue.sync {}
    }

    private func begin(_ start: LaneActivity.Start?) {
        guard let start else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(start.nanoseconds))) { [weak self] in
            self?.step(start.wait)
        }
    }

    private func step(_ wait: Int?) {
        guard let storage, activity.withLock({ $0.begin(wait) }) else { return }
        let next: LaneActivity.Next
        do {
            next = try step(storage)
        } catch StorageFailure.indeterminate {
            return activity.withLock { $0.stop() }
        } catch {
            // The work itself is not at fault.
            next = .afterPause(nanoseconds: UInt64(WorkDelays.millisecondsMin) * 1_000_000)
        }
        begin(activity.withLock { $0.ended(next) })
    }

    private func step(_ storage: any Store) throws -> LaneActivity.Next {
        let (holder, kinds) = (holder, kinds)
        // Others' work wakes it, too; a look must not take the writer's time.
        guard try storage.read({ try $0.isWorkQueued(ofAny: kinds) }) else { return .never }
        let (taken, wait) = try storage.writeAndWait(caller: .background) { transaction in
            var turn = WorkTurn(holder, kinds)
            let taken = try transaction.takeWork(&turn)
            // Entries come in transactions of their own: nothing of them is done twice, nor waits for who crashed.
            if let taken, taken.task.kind != .lateEntries {
                try transaction.hold(
                    taken, by: holder, until: transaction.now + Self.holdMilliseconds)
            }
            let next = try transaction.nextWorkMoment(kinds, for: holder)
            return (taken, next.map { max(0, $0 - transaction.now) })
        }
        guard let taken, let work = options.blocking[taken.task.kind] else {
            return wait.map { .later(nanoseconds: UInt64($0) * 1_000_000) } ?? .never
        }
        do {
            let hasMore = try work()
            options.counts.noteDone()
            try storage.writeAndWait(caller: .background) { transaction in
                if hasMore {
                    try transaction.advance(taken, to: taken.cursor)
                } else {
                    try transaction.finish(taken)
                }
            }
        } catch let error where !(error is StorageFailure) {
            options.counts.noteFailed()
            if taken.failures == 0 { options.report(taken.task.kind, error) }
            try storage.writeAndWait(caller: .background) { transaction in
                try transaction.postpone(
                    taken, until: transaction.now + WorkDelays.milliseconds(after: taken.failures))
            }
        }
        return .afterPause(nanoseconds: 0)
    }
}
