import CloudModel
import IndexedQueries
import SQLite
import Storage
import StoredRows

/// Reads the tables of indexes on one connection.
final class SQLiteIndexReader: IndexReading {
    let connection: Connection
    private let versions: VersionReader
    private let statements: IndexReadStatements

    init(_ connection: Connection, _ versions: VersionReader) throws {
        self.connection = connection
        self.versions = versions
        try Region.name(IndexReadStatements.ring, on: connection) { numbers, box in
            guard let ring = GlobeRing(numbers: numbers), box.count >= 4 else { return false }
            return ring.mayMeet(
                RecordQuery.Coordinate.Rectangle(
                    south: box[0], north: box[1], west: box[2], east: box[3]))
        }
        statements = IndexReadStatements(connection)
    }

    /// The indexes of a record type, in any state.
    func indexes(ofType type: Int64) throws -> [StoredIndex] {
        let statement = statements.ofType
        defer { statement.reset() }
        statement.bind(type, at: 1)
        return try Self.indexes(statement)
    }

    /// Every index of the store.
    func indexes() throws -> [StoredIndex] {
        defer { statements.all.reset() }
        return try Self.indexes(statements.all)
    }

    private static func indexes(_ rows: Statement) throws -> [StoredIndex] {
        var found: [StoredIndex] = []
        while try rows.step() {
            guard let kind = IndexKind(rawValue: rows.int64(3)),
                let state = StoredIndex.State(rawValue: rows.int64(4))
            else { throw InvalidRow(table: "indexes") }
            found.append(
                StoredIndex(
                    number: rows.int64(0), type: rows.int64(1),
                    need: IndexNeed(rows.string(2), kind), state: state,
                    filledThrough: RecordNumber(rows.int64(5))))
        }
        return found
    }

    /// Appends the first rows of a range in ascending order, or the last ones in descending order.
    func append(
        _ range: IndexRange, descending: Bool, limit: Int, to rows: inout [IndexRow]
    ) throws {
        let statement = descending ? statements.rangeDescending : statements.range
        defer { statement.reset() }
        bind(range, limit, to: statement)
        while try statement.step() {
            rows.append(
                IndexRow(
                    value: try IndexValue(statement, column: 0),
                    record: RecordNumber(statement.int64(1))))
        }
    }

    /// How many rows a range has, counted up to a limit.
    func count(_ range: IndexRange, limit: Int) throws -> Int {
        let statement = statements.countRange
        defer { statement.reset() }
        bind(range, limit, to: statement)
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    func count(_ values: ValueSearch, limit: Int) throws -> Int {
        var count = 0
        for value in values.values where count < limit {
            count += try self.count(
                values.range(value, after: RecordNumber(0)), limit: limit - count)
        }
        return count
    }

    func candidates(
        _ values: ValueSearch, after: RecordNumber, limit: Int
    ) throws -> [any Candidates] {
        values.values.map { value in
            IndexWalk(
                [IndexWalk.Section(range: values.range(value, after: after))],
                zone: values.zoneIndex, descending: false, isKeyed: false,
                rowsAtOnce: max(8, (limit + 1) / values.values.count), reader: self)
        }
    }

    private func bind(_ range: IndexRange, _ limit: Int, to statement: Statement) {
        // What is absent stands beside the values, under the number turned round.
        statement.bind(range.rows == .values ? range.index : -range.index, at: 1)
        statement.bind(range.zone.value, at: 2)
        statement.bind(range.from.value, at: 3)
        statement.bind(range.from.record, at: 4)
        statement.bind(range.to.value, at: 5)
        statement.bind(range.to.record, at: 6)
        statement.bind(Int64(limit), at: 7)
    }

    /// The records of a zone in a rectangle, in no order, that an index of locations holds.
    func locations(
        of index: Int64, in zone: ZoneNumber, _ rectangle: RecordQuery.Coordinate.Rectangle,
        limit: Int
    ) throws -> [LocatedRecord] {
        try locations(
            statements.locations, of: index, in: zone,
            [rectangle.south, rectangle.north, rectangle.west, rectangle.east], limit: limit)
    }

    /// The records of a zone in a ring, in no order, that an index of locations holds.
    ///
    /// Some of them may lie near the ring's edges without being in it.
    func locations(
        of index: Int64, in zone: ZoneNumber, _ ring: GlobeRing, limit: Int
    ) throws -> [LocatedRecord] {
        try locations(
            statements.locationsInRing, of: index, in: zone, ring.numbers, limit: limit)
    }

    private func locations(
        _ search: IndexReadStatements.LocationSearch, of index: Int64, in zone: ZoneNumber,
        _ numbers: [Double], limit: Int
    ) throws -> [LocatedRecord] {
        // Numbers beyond what a float tells apart; reading a stored column costs each row a look-up.
        let isZoneVague = zone.value >= 1 << 22
        let statement = isZoneVague ? search.withZones : search.plain
        defer { statement.reset() }
        statement.bind(zone.value, at: 1)
        statement.bind(index, at: 2)
        statement.bind(Int64(limit), at: 3)
        for (offset, number) in numbers.enumerated() {
            statement.bind(number, at: Int32(4 + offset))
        }
        var found: [LocatedRecord] = []
        while try statement.step() {
            let entry = EntryNumber(statement.int64(0))
            guard entry.index == index, !isZoneVague || statement.int64(5) == zone.value else {
                continue
            }
            found.append(
                LocatedRecord(
                    record: entry.record,
                    location: RecordQuery.Coordinate(
                        latitude: (statement.double(1) + statement.double(2)) / 2,
                        longitude: (statement.double(3) + statement.double(4)) / 2)))
        }
        return found
    }

    /// A record's exact place, as the record itself has it, not rounded as in an index of locations.
    func location(of record: RecordNumber, in index: Int64) throws -> RecordQuery.Coordinate? {
        let statement = statements.location
        defer { statement.reset() }
        statement.bind(EntryNumber(index, record).value, at: 1)
        guard try statement.step() else { return nil }
        return RecordQuery.Coordinate(latitude: statement.double(3), longitude: statement.double(4))
    }

    /// The records of a zone that have words: in the order of their numbers, after one, at most `limit`.
    func records(
        of index: Int64, in zone: ZoneNumber, with search: WordSearch, after: RecordNumber,
        limit: Int
    ) throws -> [RecordNumber] {
        let statement = statements.words
        defer { statement.reset() }
        let prefix = WordTerms.prefix(index, zone)
        let terms = search.words.map { "\"\(prefix)\(String(decoding: $0, as: UTF8.self))\"" }
        statement.bind(terms.joined(separator: search.needsAll ? " AND " : " OR "), at: 1)
        statement.bind(EntryNumber(index, after).value, at: 2)
        statement.bind(EntryNumber(index + 1, RecordNumber(0)).value, at: 3)
        statement.bind(Int64(limit), at: 4)
        var found: [RecordNumber] = []
        while try statement.step() { found.append(EntryNumber(statement.int64(0)).record) }
        return found
    }

    /// Whether the index lacks entries of a zone's living records that were left for later, or has some of a former
    /// version: then it finds too few records, or wrong ones.
    func isLate(_ index: Int64, in zone: ZoneNumber) throws -> Bool {
        let statement = statements.awaited
        defer { statement.reset() }
        statement.bind(zone.value, at: 1)
        statement.bind(index, at: 2)
        return try statement.step()
    }

    /// Visits the current versions of records, in the records' order; skips those that have none.
    ///
    /// - Parameter visit: gets the index of the record in `records`, and the version; false ends the visits.
    func versions(
        of records: [RecordNumber], _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws {
        for (index, record) in records.enumerated() {
            guard let key = try versionKey(of: record) else { continue }
            let goesOn = try versions.visit(at: key, of: record) { try visit(index, $0) }
            guard goesOn ?? true else { return }
        }
    }

    private func versionKey(of record: RecordNumber) throws -> Int64? {
        let statement = statements.versionKey
        defer { statement.reset() }
        statement.bind(record.value, at: 1)
        return try statement.step() ? statement.int64(0) : nil
    }

    /// The greatest record number so far, of any type; 0 for none.
    func lastRecord() throws -> RecordNumber {
        defer { statements.last.reset() }
        return RecordNumber(try statements.last.step() ? statements.last.int64(0) : 0)
    }

    /// Ends the snapshot earlier than it would end by itself; later reads of it fail with `StorageFailure.interrupted`.
    func endSnapshot(afterMilliseconds milliseconds: Int) {
        connection.endSnapshot(afterSeconds: Double(milliseconds) / 1_000)
    }
}

extension IndexValue {
    /// The value in a column of an index's row.
    init(_ row: Statement, column: Int32) throws {
        switch row.kind(column) {
        case .integer: self = .integer(row.int64(column))
        case .real: self = .real(row.double(column))
        case .text: self = .text([UInt8](row.bytes(column)))
        case .null, .blob: throw InvalidRow(table: "index_values")
        }
    }
}

extension IndexValue: StatementValue {
    package func bind(to statement: Statement, at index: Int32) {
        switch self {
        case .integer(let number): statement.bind(number, at: index)
        case .real(let number): statement.bind(number, at: index)
        case .text(let bytes): statement.bind(text: bytes, at: index)
        }
    }
}

extension Statement {
    /// Binds a value of an index.
    func bind(_ value: IndexValue, at column: Int32) { value.bind(to: self, at: column) }

    fileprivate func bind(_ value: IndexPosition.Value, at column: Int32) {
        switch value {
        // SQLite sorts numbers before text, and both before bytes.
        case .lowest: bind(-Double.infinity, at: column)
        case .value(let value): bind(value, at: column)
        case .highest: bind([UInt8](), at: column)
        }
    }
}

/// The number of an entry in the tables that have one for a record in an index.
struct EntryNumber {
    let value: Int64

    private static let recordBits: Int64 = 43
    /// Later ones have no numbers.
    static let recordMax: Int64 = 1 << recordBits - 1
    static let indexMax: Int64 = 1 << (63 - recordBits) - 2

    init(_ value: Int64) { self.value = value }

    init(_ index: Int64, _ record: RecordNumber) {
        value = index << Self.recordBits | min(record.value, Self.recordMax)
    }

    var index: Int64 { value >> Self.recordBits }
    var record: RecordNumber { RecordNumber(value & Self.recordMax) }
}

/// The statements that read indexes, each prepared when a connection first needs it.
final class IndexReadStatements: LazyStatements {
    /// What a search calls the region of a `GlobeRing`.
    static let ring = "globe_ring"

    /// A search of an index of locations, and the same with the zone of each.
    struct LocationSearch {
        let plain: Statement
        let withZones: Statement

        init(_ region: String, _ connection: Connection) {
            let box = "SELECT id, south, north, west, east"
            let within = """
                FROM index_locations
                WHERE zone_through >= ?1 + 0.5 AND zone_from <= ?1 + 0.5
                AND index_through >= ?2 + 0.5 AND index_from <= ?2 + 0.5 AND \(region) LIMIT ?3
                """
            plain = connection.statement("\(box) \(within)")
            withZones = connection.statement("\(box), zone \(within)")
        }
    }

    private static let index =
        "SELECT id, record_type, field, kind, state, filled_through FROM indexes"
    lazy var ofType = connection.statement("\(Self.index) WHERE record_type = ?1")
    lazy var all = connection.statement("\(Self.index) ORDER BY id")
    // The latest entries are in a table of their own, and so are those that have gone. SQLite merges the three
    // scans as it goes, where they are to be in order.
    private static func entries(_ table: String) -> String {
        """
        SELECT value, record FROM \(table) WHERE field = ?1 AND zone = ?2
        AND (value, record) > (?3, ?4) AND (value, record) < (?5, ?6)
        """
    }
    private static let rows = """
        \(entries("index_values")) UNION ALL \(entries("new_index_values"))
        EXCEPT \(entries("gone_index_values"))
        """
    lazy var range = connection.statement("\(Self.rows) ORDER BY value, record LIMIT ?7")
    lazy var rangeDescending = connection.statement(
        "\(Self.rows) ORDER BY value DESC, record DESC LIMIT ?7")
    lazy var countRange = connection.statement(
        "SELECT count(*) FROM (\(Self.rows) ORDER BY value, record LIMIT ?7)")
    lazy var locations = LocationSearch(
        "north >= ?4 AND south <= ?5 AND east >= ?6 AND west <= ?7", connection)
    lazy var locationsInRing = LocationSearch(
        "id MATCH \(Self.ring)(?4, ?5, ?6, ?7, ?8)", connection)
    // The tree's own table of ids, which ends with the stored columns: the tree itself would look the
    // entry's box up too, and prepare a statement for the columns each time.
    lazy var location = connection.statement("SELECT * FROM index_locations_rowid WHERE rowid = ?1")
    lazy var words = connection.statement(
        """
        SELECT rowid FROM index_words WHERE index_words MATCH ?1
        AND rowid > ?2 AND rowid < ?3 ORDER BY rowid LIMIT ?4
        """)
    lazy var versionKey = connection.statement(
        """
        SELECT zone << \(SQLiteSnapshot.positionBits) | position FROM heads WHERE id = ?1
        """)
    lazy var awaited = connection.statement(
        "SELECT 1 FROM late_entries WHERE zone = ?1 AND field = ?2 AND is_awaited LIMIT 1")
    lazy var last = connection.statement("SELECT coalesce(max(id), 0) FROM heads")
}
