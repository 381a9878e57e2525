import CloudModel
import SQLite
import Storage
import StoredRows

// What stands under names.
extension SQLiteSnapshot {
    func readCurrent<Value>(
        of name: RecordName, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        let hash = names.hash(name, in: zone)
        if let kept = try known(name, hash, in: zone) {
            return try versions.texts.visit(kept, visit)
        }
        var found: StoredHead?
        do {
            let kept = try names.withCurrent(of: name, in: zone) { head, content in
                found = head
                return try content.map {
                    try versions.keep($0, at: Self.key(zone, head.position), of: head.record)
                }
            }
            if kept != nil, let found { positionCache.note(hash, at: found.position) }
            if let kept { return try versions.texts.visit(kept, visit) }
            guard let head = found else { return nil }
            return try versions.visit(at: Self.key(zone, head.position), of: head.record, visit)
        } catch let damaged as DamagedVersion {
            guard let head = found,
                damaged == DamagedVersion(zone: zone, position: head.position)
            else { throw damaged }
            return try visit(damagedVersion(head, in: zone))
        }
    }

    /// The version of a name where it was seen last; nil also for one that has to be searched for.
    private func known(
        _ name: RecordName, _ hash: Int64, in zone: ZoneNumber
    ) throws -> VersionTexts.HeldVersion? {
        guard let position = positionCache.position(of: hash) else { return nil }
        var text = name.text
        return try text.withUTF8 {
            try versions.keep(at: Self.key(zone, position), named: UnsafeRawBufferPointer($0))
        }
    }

    /// What the store knows of a version that is not what was written.
    private func damagedVersion(
        _ head: StoredHead, in zone: ZoneNumber
    ) throws -> StoredVersion {
        let key = Self.key(zone, head.position)
        var flags: VersionFlags = [.hasLinks, .hasAssets]
        if try isThere("SELECT 1 FROM tombstones WHERE key = ?1", key) { flags = .tombstone }
        return StoredVersion(
            damaged: head.record, position: head.position, flags: flags,
            bytesCounted: try versions.bytesCounted(ofDamaged: key) ?? 0)
    }

    private func isThere(_ sql: String, _ value: Int64) throws -> Bool {
        try connection.prepare(sql).hasRow(value)
    }

    func locations(_ keys: LocationKeys) throws -> [RecordLocation?] {
        switch keys {
        case .records(let records):
            let statement = try shareStatements().shares.location
            return try records.map { try statement.first($0.value, row: Self.location) }
        case .position(let position, let zone):
            let found = try connection.prepare(
                "SELECT zone, name, position FROM heads WHERE zone = ?1 AND position = ?2"
            ).first(zone.value, position, row: Self.location)
            return [found]
        }
    }

    private static func location(_ row: Statement) throws -> RecordLocation {
        guard let name = RecordName(row.string(1)) else { throw InvalidRow(table: "heads") }
        return RecordLocation(
            zone: ZoneNumber(row.int64(0)), name: name, position: row.int64(2))
    }

    func links(of records: [RecordNumber], kinds: ClosedRange<LinkKind>) throws -> [[Link]] {
        let statement = statements.linksOfSource
        statement.bind(kinds.lowerBound.rawValue, at: 2)
        statement.bind(kinds.upperBound.rawValue, at: 3)
        return try records.map { record in
            statement.bind(record.value, at: 1)
            return try Self.links(statement)
        }
    }

    private static func links(_ statement: Statement) throws -> [Link] {
        defer { statement.reset() }
        var found: [Link] = []
        while try statement.step() {
            guard let target = RecordName(statement.string(1)),
                let kind = LinkKind(rawValue: statement.int64(2))
            else { throw InvalidRow(table: "links") }
            found.append(
                Link(targetZone: ZoneNumber(statement.int64(0)), target: target, kind: kind))
        }
        return found
    }
}
