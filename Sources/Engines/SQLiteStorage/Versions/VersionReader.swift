import CloudModel
import SQLite
import Storage

/// Reads versions from both of a store's tables: `version_rows`, and `versions` of before it.
///
/// Confined, as its connection, to one thread at a time. Every row is held to its sum. What fails is a
/// `DamagedVersion`, of which the store's `Damage` is told.
final class VersionReader {
    let texts: VersionTexts
    private let damage: Damage
    private let row: Statement
    private let formerRow: Statement
    private let ascending: Scan
    private let descending: Scan

    /// A walk along both tables, from one place on and without an end.
    ///
    /// SQLite would compare each row's key with that of the end, in two steps of its machine.
    private struct Scan {
        let rows: Statement
        let formerRows: Statement

        init(_ connection: Connection, _ range: String) {
            rows = connection.statement("SELECT key, content FROM version_rows \(range)")
            formerRows = connection.statement(
                "SELECT key, record, record_type, flags, body FROM versions \(range)")
        }

        func begin(at key: Int64) {
            rows.bind(key, at: 1)
            formerRows.bind(key, at: 1)
        }

        /// The key of the next row of the former table; nil when none is left before the end.
        func nextFormer(_ isInside: (Int64) -> Bool) throws -> Int64? {
            guard try formerRows.step() else { return nil }
            let key = formerRows.int64(0)
            return isInside(key) ? key : nil
        }

        func end() {
            rows.reset()
            formerRows.reset()
        }
    }

    init(_ connection: Connection, _ damage: Damage) throws {
        self.damage = damage
        texts = try VersionTexts(connection)
        row = connection.statement("SELECT content FROM version_rows WHERE key = ?1")
        formerRow = connection.statement(
            "SELECT key, record, record_type, flags, body FROM versions WHERE key = ?1")
        ascending = Scan(connection, "WHERE key > ?1 ORDER BY key ASC")
        descending = Scan(connection, "WHERE key <= ?1 ORDER BY key DESC")
    }

    // MARK: - One version

    /// Visits the version at a place.
    ///
    /// Further versions may be read meanwhile.
    ///
    /// - Parameter record: whose it must be; nil for anybody's.
    /// - Returns: nil when there is none.
    /// - Throws: `DamagedVersion`, also for one of another record.
    func visit<Value>(
        at key: Int64, of record: RecordNumber? = nil, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        row.bind(key, at: 1)
        guard try row.step() else {
            row.reset()
            return try visitFormer(at: key, of: record, visit)
        }
        let kept: VersionTexts.Kept
        do {
            defer { row.reset() }
            kept = try keep(row.bytes(0), at: key, of: record)
        }
        return try texts.visit(kept, visit)
    }

    /// The version of a row that another statement has read, which may go on before it is visited.
    ///
    /// - Parameter record: whose it must be; nil for anybody's.
    /// - Throws: `DamagedVersion`, also for one of another record.
    func keep(
        _ content: UnsafeRawBufferPointer, at key: Int64, of record: RecordNumber?
    ) throws -> VersionTexts.Kept {
        try checked(key) {
            let found = try VersionRow(content, key: key)
            guard record == nil || record == found.record else { throw DamagedRow() }
            return try texts.keep(found, key: key)
        }
    }

    /// The version at a place where one of a name may lie.
    ///
    /// - Returns: nil for another name's, and for one that is damaged or lies in the former table.
    func keep(at key: Int64, named name: UnsafeRawBufferPointer) throws -> VersionTexts.Kept? {
        row.bind(key, at: 1)
        defer { row.reset() }
        guard try row.step() else { return nil }
        // NB: whoever then searches for the name meets the damage, and tells of it.
        guard let found = try? VersionRow(row.bytes(0), key: key), found.name.isName(name) else {
            return nil
        }
        return try checked(key) { try texts.keep(found, key: key) }
    }

    private func visitFormer<Value>(
        at key: Int64, of record: RecordNumber?, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        let kept: VersionTexts.Kept
        do {
            defer { formerRow.reset() }
            formerRow.bind(key, at: 1)
            guard try formerRow.step() else { return nil }
            let found = Self.former(formerRow)
            guard record == nil || record == found.record else { throw noted(key) }
            kept = texts.keep(found)
        }
        return try texts.visit(kept, visit)
    }

    /// Visits the version of a row that another statement has read; valid until that goes on.
    func visit<Value>(
        content: UnsafeRawBufferPointer, at key: Int64, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value {
        let row = try checked(key) { try VersionRow(content, key: key) }
        return try withVersion(row, key, visit)
    }

    /// Of a version that is damaged: how many bytes it counts towards its owner's, as far as it says; nil when
    /// there is none.
    func bytesCounted(ofDamaged key: Int64) throws -> Int? {
        defer { row.reset() }
        row.bind(key, at: 1)
        guard try row.step() else { return nil }
        let content = row.bytes(0)
        let said = VersionRow.textCount(of: content)
        return VersionTexts.mayHold(said, inRowOf: content.count) ? said : content.count
    }

    // MARK: - Many

    /// Visits versions in the order of their keys until the closure returns false.
    ///
    /// - Parameters:
    ///   - after: the key before the first.
    ///   - through: the last key.
    /// - Throws: `DamagedVersion` in the place of a version that is damaged.
    func scan(
        after: Int64, through: Int64, newestFirst: Bool,
        _ visit: (Int64, StoredVersion) throws -> Bool
    ) throws {
        let scan = newestFirst ? descending : ascending
        defer { scan.end() }
        scan.begin(at: newestFirst ? through : after)
        let isInside = { (key: Int64) in newestFirst ? key > after : key <= through }
        var former = try scan.nextFormer(isInside)
        while try scan.rows.step() {
            let key = scan.rows.int64(0)
            guard isInside(key) else { break }
            while let next = former, newestFirst ? next > key : next < key {
                guard try visit(next, Self.former(scan.formerRows)) else { return }
                former = try scan.nextFormer(isInside)
            }
            let row = try checked(key) { try VersionRow(scan.rows.bytes(1), key: key) }
            guard try withVersion(row, key, { try visit(key, $0) }) else { return }
        }
        while let next = former {
            guard try visit(next, Self.former(scan.formerRows)) else { return }
            former = try scan.nextFormer(isInside)
        }
    }

    // MARK: - Damage

    @inline(__always)
    private func withVersion<Value>(
        _ row: VersionRow, _ key: Int64, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value {
        do {
            return try texts.withVersion(row, key: key, visit)
        } catch is DamagedRow {
            throw noted(key)
        }
    }

    @inline(__always)
    private func checked<Value>(_ key: Int64, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch is DamagedRow { throw noted(key) }
    }

    private func noted(_ key: Int64) -> DamagedVersion {
        let damaged = Self.damaged(key)
        damage.note(damaged)
        return damaged
    }

    private static func damaged(_ key: Int64) -> DamagedVersion {
        DamagedVersion(
            zone: ZoneNumber(key >> SQLiteSnapshot.positionBits),
            position: key & SQLiteSnapshot.positionMask)
    }

    private static func former(_ row: Statement) -> StoredVersion {
        StoredVersion(
            record: RecordNumber(row.int64(1)),
            position: row.int64(0) & SQLiteSnapshot.positionMask, type: row.int64(2),
            flags: VersionFlags(rawValue: row.int64(3)), body: row.bytes(4))
    }
}
