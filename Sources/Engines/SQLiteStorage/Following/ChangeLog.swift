import SQLite
import StoredRows

/// The table of changes that are kept for followers.
///
/// On the writer's connection, within a transaction.
struct ChangeLog {
    /// Rows that one step forgets at most; the rest go with the steps after it.
    private static let forgottenMax = 10_000

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Removes changes that every follower has gone past.
    func forgetPassed() throws {
        try connection.prepare(
            """
            DELETE FROM changes WHERE position <= (SELECT min(position) FROM followers)
            AND position <= coalesce(
                (SELECT position FROM changes ORDER BY position LIMIT 1 OFFSET ?1), \(Int64.max))
            """
        ).run(Self.forgottenMax)
    }

    /// Without a condition, which lets the engine drop whole pages.
    func forgetAll() throws { try connection.prepare("DELETE FROM changes").run() }

    /// How many changes are kept.
    func count() throws -> Int {
        try connection.prepare("SELECT count(*) FROM changes").first { Int($0.int64(0)) } ?? 0
    }

    /// Lets those followers go that have more than so many changes before them.
    ///
    /// - Returns: whether there was one.
    func letGo(behind changesMax: Int) throws -> Bool {
        let row = try connection.prepare(
            "SELECT position FROM changes ORDER BY position DESC LIMIT 1 OFFSET ?1")
        defer { row.reset() }
        row.bind(Int64(changesMax), at: 1)
        guard try row.step() else { return false }
        let oldest = row.int64(0)
        try connection.prepare(
            """
            DELETE FROM previous_version_needs WHERE follower IN (
                SELECT name FROM followers WHERE position < ?1)
            """
        ).run(oldest)
        try connection.prepare("UPDATE followers SET position = ?2 WHERE position < ?1").run(
            oldest, Following.letGo)
        return connection.changeCount > 0
    }
}
