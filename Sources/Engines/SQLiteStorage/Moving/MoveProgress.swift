import Storage

/// What a step has moved of what a former server has left in a store.
struct FormerMove {
    let rows: FormerRows
    let count: Int
    /// Whether these were the last.
    let isDone: Bool
}

/// How far a store's rows of a former server have been moved, told now and then.
///
/// Confined to the writer's queue.
final class MoveProgress {
    private let counts: EngineCounts
    private let report: @Sendable (FormerMove) -> Void
    /// Of the group at work.
    private var pending: [FormerMove] = []
    /// How many have been moved since the store was opened, and how many of them have been told of.
    private var moved: [FormerRows: (count: Int, told: Int)] = [:]

    /// After so many it is told again.
    private static let toldEvery = 100_000

    /// - Parameter report: told of all that were moved since the store was opened.
    init(_ counts: EngineCounts, report: @escaping @Sendable (FormerMove) -> Void) {
        self.counts = counts
        self.report = report
    }

    /// Notes what a job that ended well has moved.
    func note(_ move: FormerMove) { pending.append(move) }

    func committed() {
        for move in pending {
            counts.noteMoved(move.rows, move.count)
            var all = moved[move.rows, default: (0, 0)]
            all.count += move.count
            if move.isDone || all.told == 0 || all.count - all.told >= Self.toldEvery {
                all.told = all.count
                report(FormerMove(rows: move.rows, count: all.count, isDone: move.isDone))
            }
            moved[move.rows] = all
        }
        rolledBack()
    }

    func rolledBack() {
        if !pending.isEmpty { pending = [] }
    }
}
