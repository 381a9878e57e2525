import CloudModel
import SQLite
import Storage

/// Finds heads by their names, on one connection.
///
/// By the hash of the name, and what is found is compared with the name. In a store whose names have not all been
/// moved yet, by the former index of their text, which has all of them until then.
final class NameReader {
    /// What finds a name in one of both ways.
    private struct Statements {
        let head: Statement
        let current: Statement
    }

    let hash: NameHash
    // Functions of the connection may have a reader; whoever else has one keeps the connection.
    private unowned let connection: Connection
    private let whole: Statement
    private var byHash: Statements?
    private var byText: Statements?
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
        try find(name, in: zone, \.head) {
            StoredHead(record: RecordNumber($0.int64(0)), position: $0.int64(1))
        }
    }

    /// The number of the record that a name leads to.
    ///
    /// - Parameter name: in UTF-8.
    func record(of name: UnsafeRawBufferPointer, in zone: ZoneNumber) throws -> Int64? {
        try find(name, in: zone, \.head) { $0.int64(0) }
    }

    /// Visits the row of `record`, `record_type`, `flags`, `body` and `position` of the current version.
    func current<Value>(
        of name: RecordName, in zone: ZoneNumber, _ visit: (Statement) throws -> Value
    ) throws -> Value? {
        try find(name, in: zone, \.current, visit)
    }

    /// The places of names in a list, in the order in which finding them costs least.
    func order(of names: [RecordName], in zone: ZoneNumber) throws -> [Int] {
        guard names.count > 1, try isWhole() else { return Array(names.indices) }
        return names.enumerated().map { (hash($0.element, in: zone), $0.offset) }
            .sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func find<Value>(
        _ name: RecordName, in zone: ZoneNumber, _ kind: KeyPath<Statements, Statement>,
        _ visit: (Statement) throws -> Value
    ) throws -> Value? {
        var text = name.text
        return try text.withUTF8 {
            try find(UnsafeRawBufferPointer($0), in: zone, kind, visit)
        }
    }

    private func find<Value>(
        _ name: UnsafeRawBufferPointer, in zone: ZoneNumber,
        _ kind: KeyPath<Statements, Statement>, _ visit: (Statement) throws -> Value
    ) throws -> Value? {
        let isWhole = try isWhole()
        let statement = try (isWhole ? statementsByHash() : statementsByText())[keyPath: kind]
        defer { statement.reset() }
        statement.bind(zone.value, at: 1)
        statement.bindBorrowed(text: name, at: 2)
        if isWhole { statement.bind(hash(name, in: zone), at: 3) }
        return try statement.step() ? visit(statement) : nil
    }

    private func statementsByHash() throws -> Statements {
        if let byHash { return byHash }
        func from(_ table: String, _ columns: String, _ versions: String) -> String {
            """
            SELECT \(columns) FROM \(table) n CROSS JOIN heads h ON h.id = n.record \(versions)
            WHERE n.hash = ?3 AND h.zone = ?1 AND h.name = ?2
            """
        }
        func both(_ columns: String, _ versions: String = "") throws -> Statement {
            try connection.prepare(
                from("names", columns, versions) + " UNION ALL "
                    + from("new_names", columns, versions))
        }
        let made = Statements(
            head: try both("h.id, h.position"), current: try both(Self.columns, Self.versions))
        byHash = made
        return made
    }

    private func statementsByText() throws -> Statements {
        if let byText { return byText }
        let heads = "FROM heads h INDEXED BY heads_by_name"
        let found = "WHERE h.zone = ?1 AND h.name = ?2"
        let made = Statements(
            head: try connection.prepare("SELECT h.id, h.position \(heads) \(found)"),
            current: try connection.prepare(
                "SELECT \(Self.columns) \(heads) \(Self.versions) \(found)"))
        byText = made
        return made
    }

    private static let columns = "v.record, v.record_type, v.flags, v.body, h.position"
    private static let versions =
        "CROSS JOIN versions v ON v.key = (h.zone << \(SQLiteSnapshot.positionBits) | h.position)"
}
