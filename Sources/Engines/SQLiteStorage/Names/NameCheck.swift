import SQLite
import Storage

/// Holds what finds records by their names to the records: each is found once, and shares its name with none.
struct NameCheck {
    /// A record that a hash leads to.
    private struct Named {
        let record: Int64
        let zone: Int64
        let name: [UInt8]
    }

    private let connection: Connection
    private let names: NamesOfFile
    private let head: Statement
    private var astray = 0
    private var shared = 0
    /// Of the records whose names `names` has to have.
    private var found: Int64 = 0
    /// Of the hash that is being looked at.
    private var meeting: [Named] = []
    private var meetingHash: Int64?

    /// What is wrong, a line each; empty when nothing is.
    static func problems(_ connection: Connection, hashBits: Int) throws -> [String] {
        var check = try NameCheck(connection, NamesOfFile(connection, hashBits: hashBits))
        try check.visitNames()
        return try check.problems()
    }

    /// Makes `record_named(zone, name)` known to a connection: the number of the record that a name leads to.
    static func nameRecords(on connection: Connection, hashBits: Int) throws {
        let names = try NamesOfFile(connection, hashBits: hashBits)
        let reader = NameReader(connection, names.hash, names.waiting) { names.state }
        try RowFinder.name("record_named", on: connection) {
            try reader.head(of: $1, in: ZoneNumber($0))?.record.value
        }
    }

    private init(_ connection: Connection, _ names: NamesOfFile) throws {
        self.connection = connection
        self.names = names
        head = try connection.prepare("SELECT zone, name FROM heads WHERE id = ?1")
    }

    /// Goes through what is in order and what waits, both in the order of hashes.
    private mutating func visitNames() throws {
        let rows = try connection.prepare("SELECT hash, record FROM names ORDER BY hash, record")
        defer { rows.reset() }
        var waiting = names.waiting.entries(behind: 0).sorted { $0.hash < $1.hash }[...]
        while try rows.step() {
            while let next = waiting.first, next.hash < rows.int64(0) {
                try visit(next.record, of: next.hash)
                waiting.removeFirst()
            }
            try visit(rows.int64(1), of: rows.int64(0))
        }
        for entry in waiting { try visit(entry.record, of: entry.hash) }
    }

    private mutating func visit(_ record: Int64, of hash: Int64) throws {
        if hash != meetingHash { meeting.removeAll(keepingCapacity: true) }
        meetingHash = hash
        // What a pass has brought in waits until its end.
        guard !meeting.contains(where: { $0.record == record }) else { return }
        guard let named = try named(record, of: hash) else {
            astray += 1
            return
        }
        if record <= names.state.through { found += 1 }
        if meeting.contains(where: { $0.zone == named.zone && $0.name == named.name }) {
            shared += 1
        }
        meeting.append(named)
    }

    private func named(_ record: Int64, of hash: Int64) throws -> Named? {
        defer { head.reset() }
        head.bind(record, at: 1)
        guard try head.step(),
            names.hash(head.bytes(1), in: ZoneNumber(head.int64(0))) == hash
        else { return nil }
        return Named(record: record, zone: head.int64(0), name: [UInt8](head.bytes(1)))
    }

    private func problems() throws -> [String] {
        let row = try connection.prepare("SELECT count(*) FROM heads WHERE id <= ?1")
        defer { row.reset() }
        row.bind(names.state.through, at: 1)
        let lost = try row.step() ? max(0, row.int64(0) - found) : 0
        return [
            ("names that lead to no record of that name", Int64(astray)),
            ("records that share their name with another", Int64(shared)),
            ("records that their names do not lead to", lost),
        ].filter { $0.1 > 0 }.map { "\($0.0): \($0.1)" }
    }
}

/// How the names of a file that this process may not have open are found.
private struct NamesOfFile {
    let hash: NameHash
    let state: NameState
    let waiting: WaitingNames

    init(_ connection: Connection, hashBits: Int) throws {
        hash = try StoreProperties(connection).nameHash(bits: hashBits)
        state = try .read(connection)
        waiting = try WaitingNames(of: connection, hash)
    }
}
