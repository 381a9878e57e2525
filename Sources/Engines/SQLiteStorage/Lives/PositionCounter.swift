import CloudModel
import SQLite
import Storage

/// Gives out the numbers of a store's changes, and keeps on disk how far they have come.
///
/// Each group that takes numbers writes the last in its own transaction; the first such group of a life
/// records the life with it. Confined to the writer's queue.
final class PositionCounter {
    private var next: Position
    private var groupFirst: Position
    /// The last number that the file has.
    private(set) var committed: Position
    /// Whether the group that is being committed, or was last, has taken numbers.
    private(set) var groupMoves = false
    /// The life to be recorded with the next number; nil once it is.
    private var beginning: NewLife?
    private var move: Statement?
    private let note: PositionNote?
    private let now: @Sendable () -> Milliseconds

    /// - Parameters:
    ///   - committed: the last number that the file has.
    ///   - next: the first number to give out.
    ///   - beginning: what to record with it; nil in a store's first life, which is recorded.
    ///   - note: told of each commit.
    init(
        committed: Position, next: Position, beginning: NewLife?, note: PositionNote?,
        now: @escaping @Sendable () -> Milliseconds
    ) {
        self.committed = committed
        self.next = next
        groupFirst = next
        self.beginning = beginning
        self.note = note
        self.now = now
    }

    /// The last number that the file has, or that the current group has taken.
    var reached: Position { next > groupFirst ? next - 1 : committed }

    /// Takes numbers that follow each other; the first of them.
    ///
    /// - Throws: `StorageFailure.full` when all numbers are used up.
    func take(_ count: Int) throws -> Position {
        guard count > 0, Position(count) <= SQLiteSnapshot.positionMask - next + 1 else {
            throw StorageFailure.full
        }
        defer { next += Position(count) }
        return next
    }

    /// The last number that was given out.
    var last: Position { next - 1 }

    func groupBegan() { groupFirst = next }

    /// The store's identity as it will be once the present group is committed, if that takes a number.
    func identity(following recorded: StoreIdentity) -> StoreIdentity {
        guard let beginning else { return recorded.reaching(next - 1) }
        return recorded.followed(by: beginning, last: next - 1)
    }

    func groupWillCommit(_ connection: Connection) throws {
        groupMoves = next > groupFirst
        guard groupMoves else { return }
        if let beginning {
            try StoreProperties(connection).begin(beginning, at: now())
        }
        let move =
            try move
            ?? connection.prepare(
                "UPDATE progress SET last_position = ?1 WHERE id = 0 AND last_position < ?2")
        self.move = move
        try move.run(next - 1, groupFirst)
        guard connection.changeCount == 1 else {
            throw BrokenInvariant(
                "positions only grow: the store is at \(groupFirst) or further, where the next is to be"
            )
        }
    }

    func groupCommitted() {
        guard groupMoves else { return }
        committed = next - 1
        // None is taken before the next group begins; what comes before that is of this one.
        groupFirst = next
        beginning = nil
        note?.write(committed)
    }

    /// Lets go of the connection, once the writer is closed.
    func letGo() { move = nil }

    /// The life as it stands between two groups; nil for one that has not begun.
    func rest(of identity: StoreIdentity) -> StoreLife? {
        beginning == nil ? StoreLife(identity: identity, last: committed, next: next) : nil
    }

    /// The numbers that the group took are never used again.
    func groupRolledBack() { groupMoves = false }
}

/// A life that begins with the next write.
struct NewLife {
    let incarnation: Int64
    let previous: Int64
    /// The previous one's last position, as the file has it.
    let previousLast: Position
    /// What the previous one had acknowledged, where that is more than the file has.
    let lostThrough: Position?
}
