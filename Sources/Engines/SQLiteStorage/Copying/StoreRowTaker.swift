import CloudModel
import SQLite
import Storage
import StoredRows

/// Makes a store out of rows in the form that every engine takes.
///
/// What SQLite derives it makes with each batch (names by their hashes) or leaves to the first query (indexes). Confined,
/// as its connection, to one thread at a time.
final class StoreRowTaker {
    private let connection: Connection
    private let reader: StoreRowReader
    private let random: (Int) -> [UInt8]
    private let versions: VersionWriter
    /// Known once the store's own row is there.
    private var hash: NameHash?

    init(_ connection: Connection, random: @escaping (Int) -> [UInt8]) throws {
        self.connection = connection
        self.random = random
        reader = try StoreRowReader(connection)
        versions = try VersionWriter(connection, VersionNames(connection))
    }

    func taking() throws -> TakenRows {
        TakenRows(
            rows: try reader.rows(), last: { try self.reader.last() },
            append: { rows in
                try self.connection.transaction { try self.take(rows) }
            },
            clear: {
                try self.connection.transaction { try self.empty() }
            })
    }

    /// Removes all rows, those that every new store has as well.
    private func empty() throws {
        let tables = StoreRowReader.kinds.map(\.name)
            .filter { $0 != RowKind.ofStoreItself && $0 != RowKind.ofRecords }
        let own = ["heads", "names", "version_rows", "version_users", "properties"]
        for table in tables + own + ["sqlite_sequence"] {
            try connection.execute("DELETE FROM \(table)")
        }
        hash = nil
    }

    private func take(_ rows: [CopiedRow]) throws {
        var names: [(hash: Int64, record: Int64)] = []
        for row in rows {
            switch StoreRowReader.kinds[row.kind].name {
            case RowKind.ofStoreItself: try takeStoreItself(row.values)
            case RowKind.ofRecords: names.append(try takeRecord(row.values))
            default:
                let form = StoreRowReader.forms[row.kind]
                let insert = try connection.prepare(form.insert)
                form.bind(row.values, to: insert)
                try insert.run()
                guard connection.changeCount == 1 else {
                    throw BrokenInvariant(
                        "a copied row refers to what is there: \(form.insert)")
                }
            }
        }
        // In their order, so that names of one page are written together.
        let insert = try connection.prepare("INSERT INTO names (hash, record) VALUES (?1, ?2)")
        for name in names.sorted(by: { $0 < $1 }) { try insert.run(name.hash, name.record) }
    }

    private func takeStoreItself(_ values: [CopiedValue]) throws {
        guard values.count == 15 else { throw InvalidRow(table: RowKind.ofStoreItself) }
        let numbers = values.map { if case .integer(let number) = $0 { number } else { Int64(0) } }
        guard case .bytes(let tokenKey) = values[5], case .bytes(let name) = values[6] else {
            throw InvalidRow(table: RowKind.ofStoreItself)
        }
        try empty()
        try StoreProperties(connection).take(
            incarnation: numbers[0], tokenKey: tokenKey, name: name, random: random)
        // Names come with their records; so those up to the last number wait for nothing.
        try connection.prepare(
            """
            UPDATE progress SET last_position = ?1, schema_revision = ?2, life_count = ?3,
                subscription_revision = ?4, names_through = ?5 WHERE id = 0
            """
        ).run(numbers[1], numbers[2], numbers[3], numbers[4], numbers[9])
        let tables = [
            "owners": 7, "zones": 8, "roles": 10, "work": 11, "shares": 12, "destinations": 13,
            "outbox": 14,
        ]
        let given = try connection.prepare(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)")
        for (table, at) in tables { try given.run(table, numbers[at]) }
    }

    private func takeRecord(_ values: [CopiedValue]) throws -> (hash: Int64, record: Int64) {
        guard values.count == 7, case .integer(let zone) = values[0],
            case .integer(let position) = values[1], case .integer(let record) = values[2],
            case .integer(let type) = values[3], case .integer(let flags) = values[4],
            case .bytes(let name) = values[5], case .bytes(let body) = values[6]
        else { throw InvalidRow(table: RowKind.ofRecords) }
        let head = try connection.prepare(
            "INSERT INTO heads (id, zone, name, position) VALUES (?1, ?2, ?3, ?4)")
        head.bind(record, at: 1)
        head.bind(zone, at: 2)
        head.bind(text: name, at: 3)
        head.bind(position, at: 4)
        try head.run()
        try body.withUnsafeBytes {
            try versions.insert(
                VersionRow.Head(
                    key: SQLiteSnapshot.key(ZoneNumber(zone), position),
                    record: RecordNumber(record), type: type,
                    flags: VersionFlags(rawValue: flags)), $0)
        }
        return (try name.withUnsafeBytes { try nameHash()($0, in: ZoneNumber(zone)) }, record)
    }

    private func nameHash() throws -> NameHash {
        if let hash { return hash }
        let known = try StoreProperties(connection).nameHash(bits: 64)
        hash = known
        return known
    }
}
