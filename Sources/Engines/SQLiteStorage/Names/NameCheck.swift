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
    private let hash: NameHash
    private let head: Statement
    private var astray = 0
    private var repeated = 0
    private var shared = 0
    private var found: Int64 = 0

    /// What is wrong, a line each; empty when nothing is, and for a file of before hashes.
    static func problems(_ connection: Connection, hashBits: Int) throws -> [String] {
        guard try connection.hasTable("names"),
            let hash = try StoreProperties(connection).nameHash(bits: hashBits)
        else { return [] }
        var check = try NameCheck(connection, hash)
        try check.visitNames()
        return try check.problems()
    }

    /// Makes `record_named(zone, name)` known to a connection: the number of the record that a name leads to.
    static func nameRecords(on connection: Connection, hashBits: Int) throws {
        if try connection.hasTable("names"),
            let hash = try StoreProperties(connection).nameHash(bits: hashBits)
        {
            let reader = try NameReader(connection, hash)
            return try RowFinder.name("record_named", on: connection) {
                try reader.head(of: $1, in: ZoneNumber($0))?.record.value
            }
        }
        let former = try connection.prepare("SELECT id FROM heads WHERE zone = ?1 AND name = ?2")
        try RowFinder.name("record_named", on: connection) { zone, name in
            defer { former.reset() }
            former.bind(zone, at: 1)
            former.bindBorrowed(text: name, at: 2)
            return try former.step() ? former.int64(0) : nil
        }
    }

    private init(_ connection: Connection, _ hash: NameHash) throws {
        self.connection = connection
        self.hash = hash
        head = try connection.prepare("SELECT zone, name FROM heads WHERE id = ?1")
    }

    private mutating func visitNames() throws {
        let rows = try connection.prepare(
            """
            SELECT hash, record FROM names UNION ALL SELECT hash, record FROM new_names
            ORDER BY hash, record
            """)
        defer { rows.reset() }
        var last: Int64?
        var meeting: [Named] = []
        while try rows.step() {
            if rows.int64(0) != last { meeting.removeAll(keepingCapacity: true) }
            last = rows.int64(0)
            guard let named = try named(rows.int64(1), of: rows.int64(0)) else {
                astray += 1
                continue
            }
            if meeting.contains(where: { $0.record == named.record }) {
                repeated += 1
                continue
            }
            found += 1
            if meeting.contains(where: { $0.zone == named.zone && $0.name == named.name }) {
                shared += 1
            }
            meeting.append(named)
        }
    }

    private func named(_ record: Int64, of hash: Int64) throws -> Named? {
        defer { head.reset() }
        head.bind(record, at: 1)
        guard try head.step(), self.hash(head.bytes(1), in: ZoneNumber(head.int64(0))) == hash
        else { return nil }
        return Named(record: record, zone: head.int64(0), name: [UInt8](head.bytes(1)))
    }

    private func problems() throws -> [String] {
        let counts = try connection.prepare(
            """
            SELECT count(*), (SELECT names_through IS NULL FROM progress) = EXISTS (
                SELECT 1 FROM sqlite_schema WHERE name = 'heads_by_name')
            FROM heads WHERE id <= (
                SELECT coalesce(names_through, \(Int64.max)) FROM progress)
            """)
        defer { counts.reset() }
        let isThere = try counts.step()
        let lost = isThere ? max(0, counts.int64(0) - found) : 0
        let isContradicted = isThere && counts.int64(1) != 0
        return [
            ("names that lead to no record of theirs", Int64(astray)),
            ("names that lead to their record twice", Int64(repeated)),
            ("records that share their name with another", Int64(shared)),
            ("records that their names do not lead to", lost),
            ("stores that say another way of finding names than they have", isContradicted ? 1 : 0),
        ].filter { $0.1 > 0 }.map { "\($0.0): \($0.1)" }
    }
}
