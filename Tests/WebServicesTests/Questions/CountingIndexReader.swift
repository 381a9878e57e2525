import CloudModel
import Storage

/// An index reader that counts what is asked of another one.
final class CountingIndexReader: IndexReader {
    private let reader: any IndexReader
    private let questions: Questions

    init(_ reader: any IndexReader, _ questions: Questions) {
        self.reader = reader
        self.questions = questions
    }

    private func note(_ name: String) { questions.note(name) }

    // MARK: - IndexReader

    func indexes(ofType type: Int64) throws -> [StoredIndex] {
        note("indexes")
        return try reader.indexes(ofType: type)
    }

    func append(_ range: IndexRange, descending: Bool, limit: Int, to rows: inout [IndexRow]) throws
    {
        note("append")
        try reader.append(range, descending: descending, limit: limit, to: &rows)
    }

    func place(of record: RecordNumber, in index: Int64) throws -> RecordQuery.Place? {
        note("place")
        return try reader.place(of: record, in: index)
    }

    func count(_ range: IndexRange, limit: Int) throws -> Int {
        note("count")
        return try reader.count(range, limit: limit)
    }

    func places(
        of index: Int64, in zone: ZoneNumber, _ rectangle: RecordQuery.Place.Rectangle, limit: Int
    ) throws -> [PlacedRecord] {
        note("places")
        return try reader.places(of: index, in: zone, rectangle, limit: limit)
    }

    func places(
        of index: Int64, in zone: ZoneNumber, _ ring: GlobeRing, limit: Int
    ) throws -> [PlacedRecord] {
        note("places")
        return try reader.places(of: index, in: zone, ring, limit: limit)
    }

    func records(
        of index: Int64, in zone: ZoneNumber, with search: WordSearch, after: RecordNumber,
        limit: Int
    ) throws -> [RecordNumber] {
        note("records")
        return try reader.records(of: index, in: zone, with: search, after: after, limit: limit)
    }

    func isLate(_ index: Int64, in zone: ZoneNumber) throws -> Bool {
        note("isLate")
        return try reader.isLate(index, in: zone)
    }

    func words(in text: String) throws -> [[UInt8]] {
        try reader.words(in: text)
    }

    func versions(
        of records: [RecordNumber], _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws {
        note("versions")
        try reader.versions(of: records, visit)
    }

    func lastRecord() throws -> RecordNumber {
        note("lastRecord")
        return try reader.lastRecord()
    }

    func endSnapshot(afterMilliseconds milliseconds: Int) {
        reader.endSnapshot(afterMilliseconds: milliseconds)
    }
}
