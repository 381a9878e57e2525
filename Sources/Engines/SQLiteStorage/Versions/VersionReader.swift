import SQLite
import Storage

/// Reads the versions of a store.
///
/// Confined, as its connection, to one thread at a time. Every row is held to its sum. What fails is a
/// `DamagedVersion`, of which the store's `Damage` is told.
final class VersionReader {
    let texts: VersionTexts
    private let damage: Damage
    private let row: Statement
    // Walks from one place on and without an end: SQLite would compare each row's key with that of the end, in two
    // steps of its machine.
    private let ascending: Statement
    private let descending: Statement

    init(_ connection: Connection, _ damage: Damage) throws {
        self.damage = damage
        texts = try VersionTexts(connection)
        row = connection.statement("SELECT content FROM version_rows WHERE key = ?1")
        let rows = "SELECT key, content FROM version_rows"
        ascending = connection.statement("\(rows) WHERE key > ?1 ORDER BY key ASC")
        descending = connection.statement("\(rows) WHERE key <= ?1 ORDER BY key DESC")
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
        let kept: VersionTexts.HeldVersion
        do {
            defer { row.reset() }
            row.bind(key, at: 1)
            guard try row.step() else { return nil }
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
    ) throws -> VersionTexts.HeldVersion {
        try checked(key) {
            let found = try VersionRow(content, key: key)
            guard record == nil || record == found.record else { throw DamagedRow() }
            return try texts.keep(found, key: key)
        }
    }

    /// The version at a place where one of a name may lie.
    ///
    /// - Returns: nil for another name's, and for one that is damaged.
    func keep(at key: Int64, named name: UnsafeRawBufferPointer) throws -> VersionTexts.HeldVersion?
    {
        row.bind(key, at: 1)
        defer { row.reset() }
        guard try row.step() else { return nil }
        do {
            let found = try VersionRow(row.bytes(0), key: key)
            return try found.name.isName(name) ? texts.keep(found, key: key) : nil
        } catch is DamagedRow {
            // A search for the name meets the damage, and tells of it.
            return nil
        }
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
        let rows = newestFirst ? descending : ascending
        defer { rows.reset() }
        rows.bind(newestFirst ? through : after, at: 1)
        while try rows.step() {
            let key = rows.int64(0)
            guard newestFirst ? key > after : key <= through else { return }
            let row = try checked(key) { try VersionRow(rows.bytes(1), key: key) }
            guard try withVersion(row, key, { try visit(key, $0) }) else { return }
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
}
