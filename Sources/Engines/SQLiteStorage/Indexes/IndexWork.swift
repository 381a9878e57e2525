import CloudModel
import IndexedQueries
import SQLite
import Storage

/// Makes indexes, fills them and empties them, by bounded steps within the writer's transactions.
///
/// An index is filled in the order of record numbers, and emptied in the reverse. Writes keep up what it
/// holds of the records that the work has passed; the others are left to it.
struct IndexWork {
    private let connection: Connection
    private let versions: VersionReader
    private let reader: SQLiteIndexReader
    private let writer: IndexWriter
    var catalog: IndexCatalog

    init(
        _ connection: Connection, versions: VersionReader, reader: SQLiteIndexReader,
        writer: IndexWriter, catalog: IndexCatalog
    ) {
        self.connection = connection
        self.versions = versions
        self.reader = reader
        self.writer = writer
        self.catalog = catalog
    }

    mutating func make(_ needs: [IndexNeed], ofType type: Int64) throws {
        for need in needs {
            guard var known = catalog.ofType(type).first(where: { $0.need == need }) else {
                try insert(need, type)
                continue
            }
            guard known.state == .leaving else { continue }
            known.state = .filling
            try set(known)
        }
    }

    private mutating func insert(_ need: IndexNeed, _ type: Int64) throws {
        try connection.prepare(
            """
            INSERT INTO indexes (record_type, field, kind, state, filled_through)
            VALUES (?1, ?2, ?3, 0, 0)
            """
        ).run(type, need.field, need.kind.rawValue)
        let number = connection.lastInsertedRowID
        guard number <= EntryNumber.indexMax else { throw StorageFailure.full }
        catalog.set(
            StoredIndex(
                number: number, type: type, need: need, state: .filling,
                filledThrough: RecordNumber(0)))
    }

    mutating func drop(ofType type: Int64, fields: Set<String>?) throws {
        for var index in catalog.ofType(type) where index.state != .leaving {
            guard fields?.contains(index.need.field) ?? true else { continue }
            if index.state == .whole { index.filledThrough = try lastRecord() }
            index.state = .leaving
            try set(index)
        }
    }

    private func lastRecord() throws -> RecordNumber {
        try reader.lastRecord()
    }

    private mutating func set(_ index: StoredIndex) throws {
        try connection.prepare(
            "UPDATE indexes SET state = ?2, filled_through = ?3 WHERE id = ?1"
        ).run(index.number, index.state.rawValue, index.filledThrough.value)
        catalog.set(index)
    }

    /// Does one step of the work there is.
    ///
    /// - Returns: whether there is more.
    mutating func step(recordsMax: Int) throws -> Bool {
        let all = catalog.all
        if let first = all.filter({ $0.state == .filling }).map(\.filledThrough.value).min() {
            // Those that have come as far go on together; the others join them where they stand.
            let together = all.filter { $0.state == .filling && $0.filledThrough.value == first }
            let further = all.filter { $0.state == .filling && $0.filledThrough.value > first }
            try fill(
                together, through: further.map(\.filledThrough.value).min(), recordsMax: recordsMax)
        } else if let leaving = all.first(where: { $0.state == .leaving }) {
            try empty(leaving, recordsMax: recordsMax)
        }
        return try catalog.all.contains { try $0.state != .whole && !waits($0) }
    }

    private mutating func fill(
        _ indexes: [StoredIndex], through end: Int64?, recordsMax: Int
    ) throws {
        guard let from = indexes.first?.filledThrough else { return }
        let seen = try visit(
            """
            WHERE h.id > ?1 AND h.id <= ?2 ORDER BY h.id LIMIT ?3
            """, from.value, end ?? .max, recordsMax, types: Set(indexes.map(\.type))
        ) { record, zone, version in
            let concerned = indexes.filter { $0.type == version.type }
            let isLate = try isLate(record, in: zone, concerned, version)
            if isLate { return try leave(record, zone, to: concerned, isAwaited: true) }
            let fields = try version.storedFields()
            var rows = 0
            for index in concerned {
                rows += try writer.replace(nil, with: fields, of: record, in: zone, index)
            }
            return rows
        }
        for var index in indexes {
            index.filledThrough = RecordNumber(seen.isDone ? end ?? seen.last : seen.last)
            if seen.isDone, end == nil { index.state = .whole }
            try set(index)
        }
    }

    private mutating func empty(_ index: StoredIndex, recordsMax: Int) throws {
        let seen = try visit(
            """
            WHERE h.id > ?1 AND h.id <= ?2 ORDER BY h.id DESC LIMIT ?3
            """, 0, index.filledThrough.value, recordsMax, types: [index.type]
        ) { record, zone, version in
            if try isLate(record, in: zone, [index], version) {
                return try leave(
                    record, zone, to: [index], previous: [UInt8](version.body), isAwaited: false)
            }
            return try writer.replace(
                version.storedFields(), with: nil, of: record, in: zone, index)
        }
        guard seen.isDone else {
            var rest = index
            rest.filledThrough = RecordNumber(seen.last - 1)
            return try set(rest)
        }
        guard try !writer.late.hasAny(of: index.number),
            try writer.values.clear(index.number, entriesMax: recordsMax)
        else {
            var rest = index
            rest.filledThrough = RecordNumber(0)
            return try set(rest)
        }
        try connection.prepare("DELETE FROM indexes WHERE id = ?1").run(index.number)
        catalog.remove(index)
    }

    /// Whether an index is empty but for what is left for later.
    private func waits(_ index: StoredIndex) throws -> Bool {
        try index.state == .leaving && index.filledThrough.value == 0
            && writer.late.hasAny(of: index.number)
    }

    /// Whether a record has so many entries, or has left some for later, that it is no part of a step.
    private func isLate(
        _ record: RecordNumber, in zone: ZoneNumber, _ indexes: [StoredIndex],
        _ version: StoredVersion
    ) throws -> Bool {
        if IndexBounds.weight(version.body.count) > IndexBounds.directWeightMax / 8 { return true }
        return try indexes.contains {
            try writer.late.row(of: record, in: zone, $0.number) != nil
        }
    }

    /// - Returns: how many rows that counts for.
    private func leave(
        _ record: RecordNumber, _ zone: ZoneNumber, to indexes: [StoredIndex],
        previous: [UInt8]? = nil, isAwaited: Bool
    ) throws -> Int {
        _ = try writer.late.leave(
            record, in: zone, to: indexes, previous: previous, isAwaited: isAwaited)
        return indexes.count + (previous?.count ?? 0) / 256
    }

    /// Hands the living records of some types to a closure.
    ///
    /// - Parameter body: answers how many rows of indexes it has written: few records may have many.
    /// - Returns: the last record that was passed, and whether there are no more.
    private func visit(
        _ rows: String, _ after: Int64, _ through: Int64, _ limit: Int, types: Set<Int64>,
        _ body: (RecordNumber, ZoneNumber, StoredVersion) throws -> Int
    ) throws -> (last: Int64, isDone: Bool) {
        let statement = try connection.prepare(
            """
            SELECT h.id, h.zone << \(SQLiteSnapshot.positionBits) | h.position FROM heads h \(rows)
            """)
        defer { statement.reset() }
        statement.bind(after, through, limit)
        var (count, last) = (0, after)
        var rowsLeft = limit * Self.rowsPerRecord
        while rowsLeft > 0, try statement.step() {
            count += 1
            last = statement.int64(0)
            let key = statement.int64(1)
            do {
                rowsLeft -=
                    try versions.visit(at: key) { version in
                        guard types.contains(version.type), !version.flags.contains(.tombstone)
                        else { return 0 }
                        return try body(
                            RecordNumber(last), ZoneNumber(key >> SQLiteSnapshot.positionBits),
                            version)
                    } ?? 0
            } catch is DamagedVersion {
                // NB: no query shows it either.
                continue
            }
        }
        return (last, rowsLeft > 0 && count < limit)
    }

    /// Rows of indexes that a step writes for each record that it may take; lists have more.
    private static let rowsPerRecord = 8
}
