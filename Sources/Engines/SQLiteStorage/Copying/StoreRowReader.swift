import SQLite
import Storage
import StoredRows

/// Reads a store's rows in the form that every engine takes.
///
/// Confined, as its connection, to one thread at a time.
final class StoreRowReader {
    private static let rowsMax = 1_000
    private static let bytesMax = 4_194_304
    static let kinds = RowKind.store
    static let forms = kinds.map { RowForm($0) }

    private let connection: Connection
    private let versions: VersionReader
    private let head: Statement

    init(_ connection: Connection) throws {
        self.connection = connection
        versions = try VersionReader(connection, Damage())
        head = try connection.prepare(
            "SELECT name FROM heads WHERE id = ?1 AND zone = ?2 AND position = ?3")
    }

    /// The rows as the connection's snapshot has them.
    func rows() throws -> CopiedRows {
        let count = try connection.prepare("SELECT coalesce(sum(record_count), 0) FROM zones")
        defer { count.reset() }
        return CopiedRows(of: Self.kinds, estimate: try count.step() ? count.int64(0) : 0) {
            try self.page($0, after: $1)
        }
    }

    /// The last row there is; nil where the store is none yet.
    func last() throws -> CopiedRow? {
        guard try StoreProperties(connection).isMade() else { return nil }
        for kind in Self.kinds.indices.reversed() {
            switch Self.kinds[kind].name {
            case RowKind.ofStoreItself: return try page(kind, after: nil).first
            case RowKind.ofRecords: if let row = try lastRecord(kind) { return row }
            default:
                let statement = try connection.prepare(Self.forms[kind].last)
                defer { statement.reset() }
                if try statement.step() {
                    return CopiedRow(kind: kind, Self.forms[kind].values(of: statement))
                }
            }
        }
        return nil
    }

    private func page(_ kind: Int, after key: [CopiedValue]?) throws -> [CopiedRow] {
        switch Self.kinds[kind].name {
        case RowKind.ofStoreItself:
            return key == nil ? [CopiedRow(kind: kind, try storeItself(kind))] : []
        case RowKind.ofRecords: return try records(kind, after: Self.place(key))
        default: break
        }
        let form = Self.forms[kind]
        let statement = try form.statement(after: key, on: connection)
        defer { statement.reset() }
        var rows: [CopiedRow] = []
        var bytes = 0
        while rows.count < Self.rowsMax, bytes < Self.bytesMax, try statement.step() {
            let values = form.values(of: statement)
            bytes += values.reduce(0) { $0 + $1.byteCount }
            rows.append(CopiedRow(kind: kind, values))
        }
        return rows
    }

    // MARK: Records

    /// The key of a version's row; that before all where there is none.
    static func place(_ key: [CopiedValue]?) -> Int64 {
        guard let key, case .integer(let zone) = key[0], case .integer(let position) = key[1]
        else { return .min }
        return SQLiteSnapshot.key(ZoneNumber(zone), position)
    }

    private func lastRecord(_ kind: Int) throws -> CopiedRow? {
        let last = try connection.prepare("SELECT max(key) FROM version_rows")
        defer { last.reset() }
        guard try last.step(), !last.isNull(0) else { return nil }
        return try records(kind, after: last.int64(0) - 1).first
    }

    private func records(_ kind: Int, after key: Int64) throws -> [CopiedRow] {
        var rows: [CopiedRow] = []
        var bytes = 0
        try versions.scan(after: key, through: .max, newestFirst: false) { key, version in
            let zone = key >> SQLiteSnapshot.positionBits
            rows.append(
                CopiedRow(
                    kind: kind,
                    [
                        .integer(zone), .integer(version.position),
                        .integer(version.record.value), .integer(version.type),
                        .integer(Int64(version.flags.rawValue)),
                        .bytes(try name(of: version, in: zone)), .bytes([UInt8](version.body)),
                    ]))
            bytes += version.body.count
            return rows.count < Self.rowsMax && bytes < Self.bytesMax
        }
        return rows
    }

    private func name(of version: StoredVersion, in zone: Int64) throws -> [UInt8] {
        head.bind(version.record.value, at: 1)
        head.bind(zone, at: 2)
        head.bind(version.position, at: 3)
        defer { head.reset() }
        guard try head.step() else { throw InvalidRow(table: "heads") }
        return [UInt8](head.bytes(0))
    }

    // MARK: The store itself

    private func storeItself(_ kind: Int) throws -> [CopiedValue] {
        let numbers = ["owners", "zones"].map(Self.number)
        let more = ["roles", "work", "shares", "destinations", "outbox"].map(Self.number)
        let property = { (name: String) in
            "(SELECT value FROM properties WHERE name = '\(name)')"
        }
        let row = try connection.prepare(
            """
            SELECT \(property(StoreProperties.incarnationKey)), last_position, schema_revision,
                life_count, subscription_revision, \(property(StoreProperties.tokenKeyKey)),
                \(property(StoreProperties.nameKey)), \(numbers.joined(separator: ", ")),
                max(names_through, (SELECT coalesce(max(id), 0) FROM heads)),
                \(more.joined(separator: ", "))
            FROM progress
            """)
        defer { row.reset() }
        guard try row.step() else { throw InvalidRow(table: "progress") }
        return Self.forms[kind].values(of: row)
    }

    /// The last number that was given out in a table.
    private static func number(_ table: String) -> String {
        "coalesce((SELECT seq FROM sqlite_sequence WHERE name = '\(table)'), 0)"
    }
}

extension CopiedValue {
    fileprivate var byteCount: Int {
        if case .bytes(let bytes) = self { bytes.count } else { 8 }
    }
}
