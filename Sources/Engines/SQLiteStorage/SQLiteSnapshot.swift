import CloudModel
import SQLite
import Storage
import StoredRows

/// The reading half of the contract on one connection, which it keeps with its prepared statements.
///
/// Confined to one thread at a time; the caller opens and ends the SQLite transaction around it.
class SQLiteSnapshot: StoreSnapshot {
    let connection: Connection
    let statements: ReadStatements
    let versions: VersionReader
    let storedIndexes: SQLiteIndexReader
    let names: NameReader
    let positionCache: PositionCache
    private let facts: FactReader
    /// Whether somebody looks at a version.
    private var isVisiting = false
    /// Nearly every request asks for its zone, and most of them for one of a few.
    private var recentZones = UnchangedValues<OwnedZone, StoredZone>(countMax: 8)
    /// Of the current read.
    private var stop: StopSignal?

    init(_ connection: Connection, _ shared: SharedFacts) throws {
        self.connection = connection
        self.statements = ReadStatements(connection)
        self.versions = try VersionReader(connection, shared.damage)
        self.storedIndexes = try SQLiteIndexReader(connection, versions)
        self.positionCache = shared.positionCache
        let facts = try FactReader(connection, shared)
        self.facts = facts
        self.names = NameReader(connection, shared.nameHash, shared.waitingNames) {
            try facts.names()
        }
    }

    var schema: Schema { get throws { try facts.schema().schema } }

    /// When what the schema holds is free.
    var heldUntil: Milliseconds { get throws { try facts.schema().heldUntil } }

    var identity: StoreIdentity { get throws { try facts.identity() } }

    /// Keeps visits apart: one statement serves each of them.
    private func visiting<Value>(_ body: () throws -> Value) throws -> Value {
        guard !isVisiting else {
            throw BrokenInvariant("no version is read while another is being visited")
        }
        isVisiting = true
        defer { isVisiting = false }
        return try body()
    }

    func page(
        of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
    ) throws -> QueryCursor? {
        storedIndexes.endSnapshot(afterMilliseconds: query.bounds.millisecondsMax)
        return try find(query, visit)
    }

    func nextWorkMoment(_ kinds: [WorkKind]?, for holder: WorkHolder) throws -> Milliseconds? {
        let statement = try connection.prepare(
            """
            SELECT min(max(due_at, CASE WHEN holder <> ?2 THEN held_until ELSE 0 END))
            FROM work WHERE kind = ?1
            """)
        defer { statement.reset() }
        var next: Milliseconds?
        for number in Self.workNumbers.all(of: kinds) {
            statement.bind(number, holder.value)
            if try statement.step(), !statement.isNull(0) {
                next = min(next ?? .max, statement.int64(0))
            }
            statement.reset()
        }
        return next
    }

    /// How far a version's zone stands above its position in the key of `version_rows`.
    static let positionBits: Int64 = 40
    static let positionMask: Int64 = (1 << positionBits) - 1
    /// The last zone whose keys are positive.
    static let zoneNumberMax: Int64 = .max >> positionBits

    static func key(_ zone: ZoneNumber, _ position: Position) -> Int64 {
        zone.value << positionBits | position
    }

    func shareStatements() throws -> ShareReadStatements { try connection.prepared() }

    func assetStatements() throws -> AssetStatements { try connection.prepared() }

    func checkStop() throws { try stop?.check() }

    /// Runs a closure on one moment of the store, for no longer than the connection's deadline, and until
    /// it is told to stop.
    func reading<Value>(
        stop: StopSignal? = nil, _ body: (SQLiteSnapshot) throws -> Value
    ) throws -> Value {
        if let stop {
            self.stop = stop
            connection.endSnapshots { stop.isStopped }
        }
        defer {
            if self.stop != nil {
                self.stop = nil
                connection.endSnapshots(when: nil)
            }
        }
        do {
            return try connection.snapshot { _ in try body(self) }
        } catch let error as SQLiteError {
            if error.kind == .interrupted { try stop?.check() }
            throw error.storageFailure ?? error
        }
    }

    func owners(_ keys: [OwnerKey]) throws -> [StoredOwner?] { try keys.map { try owner($0) } }

    func owner(_ key: OwnerKey) throws -> StoredOwner? {
        switch key {
        case .name(let name): try readOwner(named: name)
        case .number(let number): try readOwner(number)
        }
    }

    private func readOwner(_ number: OwnerNumber) throws -> StoredOwner? {
        let statement = try shareStatements().shares.ownerByNumber
        defer { statement.reset() }
        statement.bind(number.value, at: 1)
        guard try statement.step() else { return nil }
        return StoredOwner(
            number: number, recordName: statement.string(0), usedBytes: statement.int64(1),
            oldestValidPosition: statement.int64(2))
    }

    private func readOwner(named name: UserRecordName) throws -> StoredOwner? {
        let statement = statements.ownerByName
        defer { statement.reset() }
        statement.bind(name.text, at: 1)
        guard try statement.step() else { return nil }
        guard statement.int64(3) == 1 else { throw InvalidRow(table: "owners") }
        return StoredOwner(
            number: OwnerNumber(statement.int64(0)), recordName: name.text,
            usedBytes: statement.int64(1), oldestValidPosition: statement.int64(2))
    }

    func amount(of owner: OwnerNumber?) throws -> (bytes: Int64, owners: Int, records: Int?) {
        let all = "SELECT coalesce(sum(used_bytes), 0), count(*) FROM owners"
        guard let owner else {
            return try connection.prepare(all)
                .first { ($0.int64(0), Int($0.int64(1)), nil) } ?? (0, 0, nil)
        }
        let records = try statements.recordCount.first(owner.value) { Int($0.int64(0)) } ?? 0
        return try connection.prepare("\(all) WHERE id = ?")
            .first(owner.value) { ($0.int64(0), Int($0.int64(1)), records) } ?? (0, 0, records)
    }

    func zones(_ keys: [ZoneKey]) throws -> [StoredZone?] { try keys.map { try zone($0) } }

    func zone(_ key: ZoneKey) throws -> StoredZone? {
        switch key {
        case .number(let number): try readZone(number)
        case .name(let name, let owner): try readZone(named: name, of: owner)
        case .nameOfOwner(let name, let owner):
            try recentZones.value(OwnedZone(owner: owner, name: name), on: connection) {
                try readZone(named: name, ofOwnerNamed: owner)
            }
        }
    }

    private func readZone(_ number: ZoneNumber) throws -> StoredZone? {
        try statements.zoneByNumber.first(number.value, row: Self.zone)
    }

    private func readZone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone? {
        let statement = statements.zoneByName
        defer { statement.reset() }
        statement.bind(owner.value, at: 1)
        statement.bind(name.text, at: 2)
        guard try statement.step() else { return nil }
        return try Self.zone(statement, name: name)
    }

    private struct OwnedZone: Equatable {
        let owner: UserRecordName
        let name: ZoneName
    }

    private func readZone(
        named name: ZoneName, ofOwnerNamed owner: UserRecordName
    ) throws -> StoredZone? {
        let statement = statements.zoneByNames
        defer { statement.reset() }
        statement.bind(owner.text, at: 1)
        statement.bind(name.text, at: 2)
        guard try statement.step() else { return nil }
        return try Self.zone(statement, name: name)
    }

    func zones(of owner: OwnerNumber, _ selection: ZoneSelection) throws -> [StoredZone] {
        switch selection {
        case .living: try statements.livingZones.all(owner.value, row: Self.zone)
        case .changed(let position, let limit):
            try statements.changedZones.all(owner.value, position, limit, row: Self.zone)
        case .stored(let limit):
            try statements.storedZones.all(owner.value, limit, row: Self.zone)
        }
    }

    func current(
        _ keys: CurrentKeys, inOrder: Bool, _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws {
        switch keys {
        case .names(let names, let zone):
            try current(of: names, in: zone, inOrder: inOrder, visit)
        case .records(let records):
            for (index, location) in try locations(of: records).enumerated() {
                guard let location else { continue }
                let goesOn = try readCurrent(of: location.name, in: location.zone) {
                    try visit(index, $0)
                }
                guard goesOn ?? true else { return }
            }
        }
    }

    func current(
        of names: [RecordName], in zone: ZoneNumber, inOrder: Bool,
        _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws {
        if inOrder || names.count == 1 {
            for (index, name) in names.enumerated() {
                guard try readCurrent(of: name, in: zone, { try visit(index, $0) }) ?? true else {
                    return
                }
            }
            return
        }
        for index in self.names.order(of: names, in: zone) {
            let goesOn = try readCurrent(of: names[index], in: zone) { try visit(index, $0) }
            guard goesOn ?? true else { return }
        }
    }

    func heads(of names: [RecordName], in zone: ZoneNumber) throws -> [StoredHead?] {
        try names.map { try self.names.head(of: $0, in: zone) }
    }

    func versions(
        in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool, expected: Int?,
        _ visit: (StoredVersion) throws -> Bool
    ) throws {
        try visiting {
            try versions.scan(
                after: Self.key(zone, after),
                through: Self.key(zone, min(through, Self.positionMask)), newestFirst: newestFirst
            ) { try visit($1) }
        }
    }

    func sources(
        of targets: [RecordName], in zone: ZoneNumber, kinds: ClosedRange<LinkKind>,
        after: RecordNumber, limit: Int
    ) throws -> [[LinkSource]] {
        // Of one kind it goes on where the page before ended, however many there are.
        let isOneKind = kinds.lowerBound == kinds.upperBound
        let statement = isOneKind ? statements.sourcesInOrder : statements.sources
        statement.bind(zone.value, at: 1)
        statement.bind(kinds.lowerBound.rawValue, at: 3)
        statement.bind(after.value, at: 4)
        statement.bind(Int64(limit), at: 5)
        if !isOneKind { statement.bind(kinds.upperBound.rawValue, at: 6) }
        return try targets.map { target in
            statement.bind(target.text, at: 2)
            return try Self.linkSources(statement)
        }
    }

    private static func linkSources(_ statement: Statement) throws -> [LinkSource] {
        defer { statement.reset() }
        var found: [LinkSource] = []
        while try statement.step() {
            guard let kind = LinkKind(rawValue: statement.int64(0)),
                let name = RecordName(statement.string(3))
            else { throw InvalidRow(table: "links") }
            found.append(
                LinkSource(
                    kind: kind, record: RecordNumber(statement.int64(1)),
                    zone: ZoneNumber(statement.int64(2)), name: name))
        }
        return found
    }

    func versions(
        after cursor: SurveyCursor, limit: Int, _ visit: (ZoneNumber, StoredVersion) throws -> Bool
    ) throws -> SurveyCursor? {
        var visited = 0
        var last = cursor
        var isCutShort = limit <= 0
        guard !isCutShort else { return last }
        try visiting {
            try versions.scan(
                after: Self.key(cursor.zone, cursor.position), through: .max, newestFirst: false
            ) { key, version in
                last = SurveyCursor(
                    zone: ZoneNumber(key >> Self.positionBits), position: version.position)
                visited += 1
                let goesOn = try visit(last.zone, version)
                isCutShort = !goesOn || visited >= limit
                return !isCutShort
            }
        }
        return isCutShort ? last : nil
    }

    func schemaHistory(limit: Int) throws -> [StoredSchemaChange] {
        try statements.schemaHistory.all(limit) {
            StoredSchemaChange(
                number: Int(clamping: $0.int64(0)), madeAt: $0.int64(1), who: $0.string(2),
                difference: $0.string(3).split(separator: "\n").map(String.init))
        }
    }

    func clientToken(_ key: ClientTokenKey) throws -> [UInt8]? {
        try statements.clientToken.first(key.zone.value, key.user.text, key.device) {
            [UInt8]($0.bytes(0))
        }
    }

    func assignedRoles(of users: [UserRecordName]) throws -> [Set<Int64>] {
        try users.map { Set(try statements.assignedRoles.all($0.text) { $0.int64(0) }) }
    }

    static func zone(_ row: Statement) throws -> StoredZone {
        guard let name = ZoneName(row.string(6)) else { throw InvalidRow(table: "zones") }
        return try zone(row, name: name)
    }

    /// - Parameter row: its last column says whether what led to the row says the same as the row does.
    private static func zone(_ row: Statement, name: ZoneName) throws -> StoredZone {
        guard row.int64(7) == 1 else { throw InvalidRow(table: "zones") }
        return StoredZone(
            number: ZoneNumber(row.int64(0)), owner: OwnerNumber(row.int64(1)), name: name,
            created: row.int64(2), changed: row.int64(3).unlessUnset,
            oldestValidPosition: row.int64(4),
            isDeleted: row.int64(5) != 0)
    }
}
