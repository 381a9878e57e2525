import Synchronization

/// What an engine counts of versions, over all stores that this process has had open.
final class VersionCounts: Sendable {
    private let damagedCount = Atomic<Int>(0)
    private let movedCount = Atomic<Int>(0)

    /// Versions that were met and are not what was written, each once for each opening of its store.
    var damaged: Int { damagedCount.load(ordering: .relaxed) }

    /// Versions of a former server that were brought into the present form.
    var moved: Int { movedCount.load(ordering: .relaxed) }

    func noteDamaged() { damagedCount.add(1, ordering: .relaxed) }

    func noteMoved(_ count: Int) { movedCount.add(count, ordering: .relaxed) }
}

/// How far a store's versions of a former server have been moved, told now and then.
///
/// Confined to the writer's queue.
final class MoveProgress {
    private let counts: VersionCounts
    private let report: @Sendable (_ count: Int, _ isDone: Bool) -> Void
    /// Of the group at work.
    private var pending = 0
    private var isDonePending = false
    private var moved = 0
    private var told = 0

    /// After so many it is told again.
    private static let toldEvery = 100_000

    init(
        _ counts: VersionCounts, report: @escaping @Sendable (_ count: Int, _ isDone: Bool) -> Void
    ) {
        self.counts = counts
        self.report = report
    }

    /// Notes what a job that ended well has moved.
    func note(_ count: Int, isDone: Bool) {
        pending += count
        isDonePending = isDone
    }

    func committed() {
        guard pending > 0 || isDonePending else { return }
        counts.noteMoved(pending)
        moved += pending
        if isDonePending || moved - told >= Self.toldEvery || told == 0 {
            told = moved
            report(moved, isDonePending)
        }
        rolledBack()
    }

    func rolledBack() { (pending, isDonePending) = (0, false) }
}
