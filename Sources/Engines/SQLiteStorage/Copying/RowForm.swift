import SQLite
import Storage
import StoredRows

/// How SQLite keeps a kind of row that engines hand over: the statements that read a page of it and add to it.
struct RowForm {
    private let kind: RowKind
    private let first: String
    private let further: String
    let insert: String
    let last: String

    init(_ kind: RowKind) {
        let names = kind.fields.map { "\"\($0.name)\"" }
        let key = names.prefix(kind.keyCount).joined(separator: ", ")
        let places = (1...max(1, names.count)).map { "?\($0)" }
        let listed = names.joined(separator: ", ")
        switch kind.name {
        case RowKind.ofTombstones:
            let place = "?2 << \(SQLiteSnapshot.positionBits) | ?3"
            self.init(
                kind, from: "tombstones",
                columns: "deleted_at, key >> \(SQLiteSnapshot.positionBits), "
                    + "key & \(SQLiteSnapshot.positionMask)",
                key: ["deleted_at", "key"], after: "?1, \(place)",
                condition: "EXISTS (SELECT 1 FROM version_rows v WHERE v.key = tombstones.key)",
                insert: "INSERT INTO tombstones (deleted_at, key) VALUES (?1, \(place))")
        case "asset_uses":
            self.init(
                kind, from: "asset_uses u JOIN asset_files f ON f.id = u.file",
                columns: "u.record, f.digest", key: ["u.record", "f.digest"], after: "?1, ?2",
                insert: """
                    INSERT INTO asset_uses (record, file)
                    SELECT ?1, id FROM asset_files WHERE digest = ?2
                    """)
        case "asset_receipts":
            self.init(
                kind, from: "asset_receipts r JOIN asset_files f ON f.id = r.file",
                columns: "r.id, f.digest, r.identity, r.expires", key: ["r.id"], after: "?1",
                insert: """
                    INSERT INTO asset_receipts (id, file, identity, expires)
                    SELECT ?1, id, ?3, ?4 FROM asset_files WHERE digest = ?2
                    """)
        default:
            self.init(
                kind, from: kind.name, columns: listed, key: [key],
                after: places.prefix(kind.keyCount).joined(separator: ", "),
                condition: Self.conditions[kind.name],
                insert: "INSERT INTO \(kind.name) (\(listed)) "
                    + "VALUES (\(places.joined(separator: ", ")))")
        }
    }

    /// What of a table is of the kind.
    private static let conditions = [
        // What the engine has left for itself stays.
        RowKind.ofWork: "kind NOT IN (3, 7, 9)",
        // Roles that the schema has no more wait for being forgotten.
        "roles": "is_removed = 0",
        "assigned_roles": "role IN (SELECT id FROM roles WHERE is_removed = 0)",
    ]

    private init(
        _ kind: RowKind, from table: String, columns: String, key: [String], after: String,
        condition: String? = nil, insert: String
    ) {
        self.kind = kind
        let order = key.joined(separator: ", ")
        let start = "SELECT \(columns) FROM \(table)"
        let also = condition.map { " AND \($0)" } ?? ""
        first = "\(start)\(condition.map { " WHERE \($0)" } ?? "") ORDER BY \(order)"
        further = "\(start) WHERE (\(order)) > (\(after))\(also) ORDER BY \(order)"
        let falling = order.split(separator: ", ").map { "\($0) DESC" }.joined(separator: ", ")
        last = "\(start)\(condition.map { " WHERE \($0)" } ?? "") ORDER BY \(falling) LIMIT 1"
        self.insert = insert
    }

    /// The statement that reads the rows behind a key, bound.
    func statement(after key: [CopiedValue]?, on connection: Connection) throws -> Statement {
        guard let key else { return try connection.prepare(first) }
        let statement = try connection.prepare(further)
        bind(key, to: statement)
        return statement
    }

    /// Binds values to a statement's parameters, the fields' in their order.
    func bind(_ values: [CopiedValue], to statement: Statement) {
        for (at, value) in values.enumerated() {
            let index = Int32(at + 1)
            switch value {
            case .integer(let number): statement.bind(number, at: index)
            case .bytes(let bytes) where kind.fields[at].form == .text:
                statement.bind(text: bytes, at: index)
            case .bytes(let bytes): statement.bind(bytes, at: index)
            case .nothing: statement.bindNull(at: index)
            }
        }
    }

    /// What the row says at which a statement stands.
    func values(of row: Statement) -> [CopiedValue] {
        kind.fields.indices.map { at in
            let column = Int32(at)
            if row.isNull(column) { return .nothing }
            return kind.fields[at].form == .integer
                ? .integer(row.int64(column)) : .bytes([UInt8](row.bytes(column)))
        }
    }
}
