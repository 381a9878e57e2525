import CloudModel
import SQLite
import Storage

/// Finds heads by their names, on one connection.
///
/// It looks for the hash of the name: in what is known of the names that wait, and then in `names`. What it finds it
/// compares with the name.
final class NameReader {
    let hash: NameHash
    // Functions of the connection may have a reader; all others that have one keep the connection.
    private unowned let connection: Connection
    private let waiting: WaitingNames
    private let stateOfSnapshot: () throws -> NameState
    /// As it was when the group began, where the connection writes.
    private var stateOfGroup: NameState?
    private let heads: NameStatements
    private let current: NameStatements
    private let leading: Statement

    /// - Parameter state: tells how the connection's snapshot finds names.
    init(
        _ connection: Connection, _ hash: NameHash, _ waiting: WaitingNames,
        state: @escaping () throws -> NameState
    ) {
        self.connection = connection
        self.hash = hash
        self.waiting = waiting
        stateOfSnapshot = state
        heads = NameStatements(connection, "h.id, h.position")
        let key = "(h.zone << \(SQLiteSnapshot.positionBits) | h.position)"
        current = NameStatements(
            connection, "h.id, h.position, v.content",
            join: "LEFT JOIN version_rows v ON v.key = \(key)")
        leading = connection.statement("SELECT 1 FROM names WHERE hash = ?1")
    }

    /// How names are found in the snapshot; where the connection writes, at the latest as its group found it.
    func state() throws -> NameState {
        if let stateOfGroup { return stateOfGroup }
        let state = try stateOfSnapshot()
        guard try connection.stateNumber() == nil else { return state }
        try waiting.catchUp(state, connection, hash)
        stateOfGroup = state
        return state
    }

    /// Looks again how names are found: another group begins, or what was seen last was undone or has moved.
    func forget() { stateOfGroup = nil }

    func head(of name: RecordName, in zone: ZoneNumber) throws -> StoredHead? {
        var text = name.text
        return try text.withUTF8 { try head(of: UnsafeRawBufferPointer($0), in: zone) }
    }

    /// The head of a name that is given in UTF-8.
    func head(of name: UnsafeRawBufferPointer, in zone: ZoneNumber) throws -> StoredHead? {
        guard let row = try find(name, in: zone, by: heads) else { return nil }
        defer { row.reset() }
        return StoredHead(record: RecordNumber(row.int64(0)), position: row.int64(1))
    }

    /// Reads the head of a name together with the row of its version, which saves a second search.
    ///
    /// - Parameter read: gets the row's content, which it must not keep; nil for a version that lies elsewhere.
    /// - Returns: nil also when there is no such name.
    func withCurrent<Value>(
        of name: RecordName, in zone: ZoneNumber,
        _ read: (StoredHead, UnsafeRawBufferPointer?) throws -> Value?
    ) throws -> Value? {
        var text = name.text
        return try text.withUTF8 {
            guard let row = try find(UnsafeRawBufferPointer($0), in: zone, by: current) else {
                return nil
            }
            defer { row.reset() }
            let head = StoredHead(record: RecordNumber(row.int64(0)), position: row.int64(1))
            return try read(head, row.isNull(2) ? nil : row.bytes(2))
        }
    }

    /// The places of names in a list, in the order in which finding them costs least.
    func order(of names: [RecordName], in zone: ZoneNumber) -> [Int] {
        guard names.count > 1 else { return Array(names.indices) }
        return names.enumerated().map { (hash($0.element, in: zone), $0.offset) }
            .sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Whether no name with this hash leads to a record.
    func leadsNowhere(_ hash: Int64) throws -> Bool {
        let state = try state()
        let hint = waiting.hint(of: hash)
        guard hint.records.first == nil, Gaps(hint, state).isNone else { return false }
        leading.bind(hash, at: 1)
        defer { leading.reset() }
        return try !leading.step()
    }

    /// - Returns: the statement at the row of the name, for the caller to reset; nil when there is none.
    private func find(
        _ name: UnsafeRawBufferPointer, in zone: ZoneNumber, by statements: NameStatements
    ) throws -> Statement? {
        func isFound(_ statement: Statement) throws -> Bool {
            statement.bind(zone.value, at: 1)
            statement.bindBorrowed(text: name, at: 2)
            return try statement.step()
        }
        // Before the hint: only a snapshot that has begun has a hint that is whole.
        let state = try state()
        let hash = hash(name, in: zone)
        let hint = waiting.hint(of: hash)
        if let first = hint.records.first {
            statements.ofRecord.bind(first, at: 3)
            if try isFound(statements.ofRecord) { return statements.ofRecord }
            for record in hint.records.others {
                statements.ofRecord.bind(record, at: 3)
                if try isFound(statements.ofRecord) { return statements.ofRecord }
            }
        }
        statements.byHash.bind(hash, at: 3)
        if try isFound(statements.byHash) { return statements.byHash }
        let gaps = Gaps(hint, state)
        guard !gaps.isNone else { return nil }
        for (after, through) in [gaps.early, gaps.late] where after < through {
            statements.amongRecords.bind(after, at: 3)
            statements.amongRecords.bind(through, at: 4)
            if try isFound(statements.amongRecords) { return statements.amongRecords }
        }
        return nil
    }
}

/// The records of a snapshot that neither `names` nor a hint knows, so that they must be gone through.
///
/// None as a rule. A snapshot that goes on while two passes end has some, and one to which another program has written.
private struct Gaps {
    /// Behind the first record, up to the second.
    let early: (after: Int64, through: Int64)
    let late: (after: Int64, through: Int64)

    init(_ hint: WaitingNames.Hint, _ state: NameState) {
        early = (state.through, min(hint.after, state.last))
        late = (max(hint.last, state.through), state.last)
    }

    var isNone: Bool { early.after >= early.through && late.after >= late.through }
}

/// Statements that find the row of a name, which is their second parameter, in the zone that is their first.
private struct NameStatements {
    /// Of a record, the third.
    let ofRecord: Statement
    /// By a hash, the third.
    let byHash: Statement
    /// Among the records behind the third, up to the fourth.
    let amongRecords: Statement

    init(_ connection: Connection, _ columns: String, join: String = "") {
        let named = "h.zone = ?1 AND h.name = ?2"
        ofRecord = connection.statement(
            "SELECT \(columns) FROM heads h \(join) WHERE h.id = ?3 AND \(named)")
        byHash = connection.statement(
            """
            SELECT \(columns) FROM names n CROSS JOIN heads h ON h.id = n.record \(join)
            WHERE n.hash = ?3 AND \(named)
            """)
        amongRecords = connection.statement(
            "SELECT \(columns) FROM heads h \(join) WHERE h.id > ?3 AND h.id <= ?4 AND \(named)")
    }
}
