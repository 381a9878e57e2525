import CloudModel
import IndexedQueries
import SQLite
import Storage

/// Writes what indexes say of records.
///
/// Confined to the writer's queue.
final class IndexWriter {
    let values: IndexValueWriter
    let late: LateEntryTable
    private let insertWords: Statement
    private let deleteWords: Statement
    private let insertLocation: Statement
    private let deleteLocation: Statement
    private let connection: Connection

    init(_ connection: Connection) throws {
        self.connection = connection
        values = IndexValueWriter(connection)
        late = LateEntryTable(connection)
        insertWords = try connection.prepare(
            "INSERT INTO index_words (rowid, terms) VALUES (?1, ?2)")
        deleteWords = try connection.prepare(
            "INSERT INTO index_words (index_words, rowid, terms) VALUES ('delete', ?1, ?2)")
        insertLocation = try connection.prepare(
            """
            INSERT INTO index_locations
            VALUES (?1, ?2, ?2, ?3, ?3, ?4, ?4 + 1, ?5, ?5 + 1, ?4, ?2, ?3)
            """)
        deleteLocation = try connection.prepare("DELETE FROM index_locations WHERE id = ?1")
    }

    /// What it remembers was undone.
    func rolledBack() {
        values.rolledBack()
        late.rolledBack()
    }

    /// Brings an index from what it says of a record to what it is to say.
    ///
    /// - Parameters:
    ///   - previous: the record as the index has it; nil when it has nothing of it.
    ///   - new: nil for a record that goes.
    /// - Returns: about how many rows that took.
    @discardableResult
    func replace(
        _ previous: StoredFields?, with new: StoredFields?, of record: RecordNumber,
        in zone: ZoneNumber, _ index: StoredIndex
    ) throws -> Int {
        let before = previous.map { IndexEntry.entries(of: $0, for: index.need) } ?? []
        let after = new.map { IndexEntry.entries(of: $0, for: index.need) } ?? []
        return try replace(before, with: after, of: record, in: zone, index, isNew: previous == nil)
    }

    /// The same, where what the index says is known.
    ///
    /// - Parameter isNew: whether the index has had nothing of the record.
    @discardableResult
    func replace(
        _ before: Set<IndexEntry>, with after: Set<IndexEntry>, of record: RecordNumber,
        in zone: ZoneNumber, _ index: StoredIndex, isNew: Bool
    ) throws -> Int {
        guard before != after else { return 0 }
        guard record.value <= EntryNumber.recordMax else { throw StorageFailure.full }
        // Mostly there are those of one side alone: what new records bring, or deleted ones leave.
        let gone = after.isEmpty ? before : before.subtracting(after)
        let come = before.isEmpty ? after : after.subtracting(before)
        for entry in gone { try remove(entry, record, zone, index.number) }
        for entry in come {
            try add(entry, record, zone, index.number, isNew: isNew)
        }
        return gone.reduce(0) { $0 + $1.rows } + come.reduce(0) { $0 + $1.rows }
    }

    /// Writes a step of what was left for later.
    func replace(_ step: LateEntries.Step, of row: LateRow) throws {
        guard row.record.value <= EntryNumber.recordMax else { throw StorageFailure.full }
        let gone = SingleEntry.terms(step.gone, row.index, row.zone)
        if !gone.isEmpty {
            // The table counts its rows: a record with words is one, in however many parts they come and go.
            if step.leavesWords { try write(insertWords, row, []) }
            try write(deleteWords, row, gone)
        }
        for entry in step.gone {
            try entry.other.map { try remove($0, row.record, row.zone, row.index) }
        }
        let come = SingleEntry.terms(step.come, row.index, row.zone)
        if !come.isEmpty {
            if step.leavesWords { try write(deleteWords, row, []) }
            try write(insertWords, row, come)
        }
        for entry in step.come {
            try entry.other.map {
                try add($0, row.record, row.zone, row.index, isNew: false)
            }
        }
    }

    private func write(_ statement: Statement, _ row: LateRow, _ terms: [UInt8]) throws {
        statement.bind(EntryNumber(row.index, row.record).value, at: 1)
        statement.bind(text: terms, at: 2)
        try statement.run()
    }

    /// Removes all that an index says of a record; reads all that it says of the zone, and of words all that
    /// any index says.
    ///
    /// For a record that nobody can read any more: what is known of it is taken out by `replace`.
    func forget(_ record: RecordNumber, in zone: ZoneNumber, _ index: Int64) throws {
        try values.forget(record, in: zone, index)
        let entry = EntryNumber(index, record).value
        deleteLocation.bind(entry, at: 1)
        try deleteLocation.run()
        try connection.execute(
            """
            CREATE VIRTUAL TABLE IF NOT EXISTS temp.index_entries
            USING fts5vocab('main', 'index_words', 'instance')
            """)
        let rows = try connection.prepare("SELECT term FROM temp.index_entries WHERE doc = ?1")
        rows.bind(entry, at: 1)
        var terms: [[UInt8]] = []
        while try rows.step() { terms.append([UInt8](rows.bytes(0))) }
        guard !terms.isEmpty else { return }
        deleteWords.bind(entry, at: 1)
        deleteWords.bind(text: Array(terms.joined(separator: [UInt8(ascii: " ")])), at: 2)
        try deleteWords.run()
    }

    /// - Parameter isNew: whether the index has had nothing of the record.
    private func add(
        _ entry: IndexEntry, _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64,
        isNew: Bool
    ) throws {
        switch entry {
        case .absent: try values.addAbsent(record, zone, index, isNew: isNew)
        case .value(let value): try values.add(value, record, zone, index)
        case .words(let text):
            let terms = WordTerms.of(text, index, zone)
            guard !terms.isEmpty else { return }
            insertWords.bind(EntryNumber(index, record).value, at: 1)
            insertWords.bind(text: terms, at: 2)
            try insertWords.run()
        case .location(let location):
            insertLocation.bind(EntryNumber(index, record).value, at: 1)
            insertLocation.bind(location.latitude, at: 2)
            insertLocation.bind(location.longitude, at: 3)
            insertLocation.bind(zone.value, at: 4)
            insertLocation.bind(index, at: 5)
            try insertLocation.run()
        }
    }

    private func remove(
        _ entry: IndexEntry, _ record: RecordNumber, _ zone: ZoneNumber, _ index: Int64
    ) throws {
        switch entry {
        case .absent: try values.removeAbsent(record, zone, index)
        case .value(let value): try values.remove(value, record, zone, index)
        case .words(let text):
            let terms = WordTerms.of(text, index, zone)
            guard !terms.isEmpty else { return }
            deleteWords.bind(EntryNumber(index, record).value, at: 1)
            deleteWords.bind(text: terms, at: 2)
            try deleteWords.run()
        case .location:
            deleteLocation.bind(EntryNumber(index, record).value, at: 1)
            try deleteLocation.run()
        }
    }
}
