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
    private var currentByHash: Statement?
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

    /// Reads the head of a name together with the row of its version, which saves a second search.
    ///
    /// - Parameter read: gets the row's content, which it must not keep; nil for a version that lies elsewhere.
    /// - Returns: nil also when there is no such name.
    func withCurrent<Value>(
        of name: RecordName, in zone: ZoneNumber,
        _ read: (StoredHead, UnsafeRawBufferPointer?) throws -> Value?
    ) throws -> Value? {
        guard try isWhole() else {
            return try head(of: name, in: zone).flatMap { try read($0, nil) }
        }
        let statement = try statementOfCurrent()
        defer { statement.reset() }
        var text = name.text
        return try text.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            statement.bind(zone.value, at: 1)
            statement.bindBorrowed(text: bytes, at: 2)
            statement.bind(hash(bytes, in: zone), at: 3)
            guard try statement.step() else { return nil }
            let head = StoredHead(
                record: RecordNumber(statement.int64(0)), position: statement.int64(1))
            return try read(head, statement.isNull(2) ? nil : statement.bytes(2))
        }
    }

    /// The places of names in a list, in the order in which finding them costs least.
    func order(of names: [RecordName], in zone: ZoneNumber) throws -> [Int] {
        guard names.count > 1, try isWhole() else { return Array(names.indices) }
        return names.enumerated().map { (hash($0.element, in: zone), $0.offset) }
            .sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func statementByHash() throws -> Statement {
        if let byHash { return byHash }
        let made = try connection.prepare(Self.inBothTables("h.id, h.position"))
        byHash = made
        return made
    }

    private func statementOfCurrent() throws -> Statement {
        if let currentByHash { return currentByHash }
        let key = "(h.zone << \(SQLiteSnapshot.positionBits) | h.position)"
        let made = try connection.prepare(
            Self.inBothTables(
                "h.id, h.position, v.content", "LEFT JOIN version_rows v ON v.key = \(key)"))
        currentByHash = made
        return made
    }

    /// A look for a hash among the names that lie in order, and then among those that wait.
    private static func inBothTables(_ columns: String, _ join: String = "") -> String {
        func from(_ table: String) -> String {
            """
            SELECT \(columns) FROM \(table) n CROSS JOIN heads h ON h.id = n.record \(join)
            WHERE n.hash = ?3 AND h.zone = ?1 AND h.name = ?2
            """
        }
        return "\(from("names")) UNION ALL \(from("new_names"))"
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
