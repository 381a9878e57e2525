import CloudModel
import SQLite
import Storage

/// Finds heads by their names, on one connection.
///
/// It looks for the hash of the name, and compares what it finds with the name. In a store whose names have not all
/// been moved yet, it looks into the former index of their text. That one has all names until then.
final class NameReader {
    let hash: NameHash
    // Functions of the connection may have a reader; whoever else has one keeps the connection.
    private unowned let connection: Connection
    private let whole: Statement
    private var byHash: Statement?
    private var byText: Statement?
    /// Whether the connection has seen that all names have moved; they stay so.
    private var hasSeenWhole = false

    init(_ connection: Connection, _ hash: NameHash) throws {
        self.connection = connection
        self.hash = hash
        whole = try connection.prepare("SELECT names_through IS NULL FROM progress WHERE id = 0")
    }

    /// Whether all names are found by their hashes, in the snapshot.
    func isWhole() throws -> Bool {
        if hasSeenWhole { return true }
        defer { whole.reset() }
        guard try whole.step() else { throw InvalidRow(table: "progress") }
        hasSeenWhole = whole.int64(0) != 0
        return hasSeenWhole
    }

    /// Looks again: what was seen last was undone.
    func forget() { hasSeenWhole = false }

    func head(of name: RecordName, in zone: ZoneNumber) throws -> StoredHead? {
        var text = name.text
        return try text.withUTF8 { try head(of: UnsafeRawBufferPointer($0), in: zone) }
    }

    /// The head of a name that is given in UTF-8.
    func head(of name: UnsafeRawBufferPointer, in zone: ZoneNumber) throws -> StoredHead? {
        let isWhole = try isWhole()
        let statement = try isWhole ? statementByHash() : statementByText()
        defer { statement.reset() }
        statement.bind(zone.value, at: 1)
        statement.bindBorrowed(text: name, at: 2)
        if isWhole { statement.bind(hash(name, in: zone), at: 3) }
        guard try statement.step() else { return nil }
        return StoredHead(
            record: RecordNumber(statement.int64(0)), position: statement.int64(1))
    }

    /// The places of names in a list, in the order in which finding them costs least.
    func order(of names: [RecordName], in zone: ZoneNumber) throws -> [Int] {
        guard names.count > 1, try isWhole() else { return Array(names.indices) }
        return names.enumerated().map { (hash($0.element, in: zone), $0.offset) }
            .sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func statementByHash() throws -> Statement {
        if let byHash { return byHash }
        func from(_ table: String) -> String {
            """
            SELECT h.id, h.position FROM \(table) n CROSS JOIN heads h ON h.id = n.record
            WHERE n.hash = ?3 AND h.zone = ?1 AND h.name = ?2
            """
        }
        let made = try connection.prepare("\(from("names")) UNION ALL \(from("new_names"))")
        byHash = made
        return made
    }

    private func statementByText() throws -> Statement {
        if let byText { return byText }
        let made = try connection.prepare(
            """
            SELECT h.id, h.position FROM heads h INDEXED BY heads_by_name
            WHERE h.zone = ?1 AND h.name = ?2
            """)
        byText = made
        return made
    }
}
