import CloudModel

/// One index over a field of a record type, as a snapshot has it.
package struct StoredIndex: Sendable, Equatable {
    package enum State: Int64, Sendable {
        case filling = 0
        case whole = 1
        /// Nobody needs it any more: it is being emptied.
        case leaving = 2
    }

    /// Never used again by another index.
    package let number: Int64
    /// The number of the record type.
    package let type: Int64
    package let need: IndexNeed
    package var state: State
    /// The last record that it holds while it is not whole.
    package var filledThrough: RecordNumber

    package init(
        number: Int64, type: Int64, need: IndexNeed, state: State, filledThrough: RecordNumber
    ) {
        self.number = number
        self.type = type
        self.need = need
        self.state = state
        self.filledThrough = filledThrough
    }

    /// Whether it holds what there is to say of a record, and must go on doing so.
    package func holds(_ record: RecordNumber) -> Bool {
        state == .whole || record.value <= filledThrough.value
    }
}

/// A place between the rows of an index, which are ordered by value and then record.
package struct IndexPosition: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        /// Before every value.
        case lowest
        case value(IndexValue)
        /// After every value.
        case highest
    }

    package var value: Value
    package var record: Int64

    /// The place of a row.
    package init(_ value: IndexValue, _ record: RecordNumber) {
        self.value = .value(value)
        self.record = record.value
    }

    private init(_ value: Value, _ record: Int64) {
        self.value = value
        self.record = record
    }

    package static let lowest = IndexPosition(.lowest, 0)
    package static let highest = IndexPosition(.highest, 0)

    /// Before the rows of a value.
    package static func before(_ value: IndexValue) -> IndexPosition {
        IndexPosition(.value(value), 0)
    }

    /// After the rows of a value.
    package static func after(_ value: IndexValue) -> IndexPosition {
        IndexPosition(.value(value), .max)
    }
}

extension IndexPosition: Comparable {
    package static func < (left: IndexPosition, right: IndexPosition) -> Bool {
        left.value == right.value ? left.record < right.record : left.value < right.value
    }
}

extension IndexPosition.Value: Comparable {
    package static func < (left: IndexPosition.Value, right: IndexPosition.Value) -> Bool {
        switch (left, right) {
        case (.value(let left), .value(let right)): left < right
        case (.lowest, .lowest), (.highest, _): false
        case (.lowest, _), (_, .highest): true
        case (_, .lowest): false
        }
    }
}

/// The rows of one zone in an index between two places, both left out.
package struct IndexRange: Sendable {
    /// Which of an index's rows: each record has either values or one row that says that it has none.
    package enum Rows: Sendable { case values, absent }

    /// The number of the index.
    package var index: Int64
    package var rows: Rows
    package var zone: ZoneNumber
    package var from: IndexPosition
    package var to: IndexPosition

    package init(
        index: Int64, rows: Rows = .values, zone: ZoneNumber, from: IndexPosition = .lowest,
        to: IndexPosition = .highest
    ) {
        self.index = index
        self.rows = rows
        self.zone = zone
        self.from = from
        self.to = to
    }

    /// The records that have no value, by their numbers: each has the value 0 here.
    package static func absent(index: Int64, zone: ZoneNumber) -> IndexRange {
        IndexRange(index: index, rows: .absent, zone: zone)
    }
}

/// One row of an index.
package struct IndexRow: Sendable {
    package let value: IndexValue
    package let record: RecordNumber

    package init(value: IndexValue, record: RecordNumber) {
        self.value = value
        self.record = record
    }
}

/// A record in an index of places, and about where.
package struct PlacedRecord: Sendable {
    /// How far the record's place may be from `place`: an engine's index may keep it in fewer bits than the record.
    package static let metresOff = 10.0

    package let record: RecordNumber
    package let place: RecordQuery.Place

    package init(record: RecordNumber, place: RecordQuery.Place) {
        self.record = record
        self.place = place
    }
}

/// What a search for words asks for.
package struct WordSearch: Sendable {
    /// In UTF-8, as `IndexReader.words` takes them from a text; not empty.
    package let words: [[UInt8]]
    /// Whether a record needs all of them.
    package let needsAll: Bool

    package init(words: [[UInt8]], needsAll: Bool) {
        self.words = words
        self.needsAll = needsAll
    }
}

/// What a read sees of the indexes that queries use.
///
/// An index that is whole says of each living record exactly what its body says, as of the snapshot's moment.
/// Numbers sort by value, before all text; texts sort by code points, as their UTF-8 does, whatever
/// language a machine speaks. Every call is bounded by its limit.
package protocol IndexReader: AnyObject {
    /// The indexes of a record type, in any state.
    func indexes(ofType type: Int64) throws -> [StoredIndex]

    /// Appends the first rows of a range in its order, or the last ones in the reverse.
    func append(
        _ range: IndexRange, descending: Bool, limit: Int, to rows: inout [IndexRow]) throws

    /// The place of a record exactly, as an index of places has it.
    func place(of record: RecordNumber, in index: Int64) throws -> RecordQuery.Place?

    /// How many rows a range has, counted up to a limit.
    func count(_ range: IndexRange, limit: Int) throws -> Int

    /// The records of a zone in a rectangle, in no order, that an index of places holds.
    func places(
        of index: Int64, in zone: ZoneNumber, _ rectangle: RecordQuery.Place.Rectangle, limit: Int
    ) throws -> [PlacedRecord]

    /// The records of a zone in a ring, in no order, that an index of places holds; some that are near its
    /// edges without being in it.
    func places(
        of index: Int64, in zone: ZoneNumber, _ ring: GlobeRing, limit: Int
    ) throws -> [PlacedRecord]

    /// The records of a zone that have words, by their numbers, after one and up to a limit.
    func records(
        of index: Int64, in zone: ZoneNumber, with search: WordSearch, after: RecordNumber,
        limit: Int
    ) throws -> [RecordNumber]

    /// The different words of a text as an index of words takes them: runs of letters and digits, without
    /// regard to case and diacritics, each cut at 64 bytes of UTF-8, never within a letter.
    ///
    /// Which words a text has is the same in every engine: `StorageConformance` has a table of them.
    func words(in text: String) throws -> [[UInt8]]

    /// Reads the current version of a record.
    func version<Value>(
        of record: RecordNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value?

    /// The last record that there is, of any type; 0 for none.
    func lastRecord() throws -> RecordNumber

    /// Ends the snapshot sooner than it would end by itself: what reads later fails with
    /// `StorageFailure.interrupted`.
    func endSnapshot(afterMilliseconds milliseconds: Int)
}

/// What a write does with indexes.
///
/// What they say of the records that it saves, the engine keeps up by itself.
package protocol IndexWriting: AnyObject {
    /// Makes the indexes of a record type that are not there yet; they are filled by queued work.
    func makeIndexes(_ needs: [IndexNeed], ofType type: Int64) throws

    /// Gives up indexes of a record type: no query uses them from now on, and they are emptied by queued
    /// work.
    ///
    /// - Parameter fields: whose indexes; nil for all of the type's.
    func dropIndexes(ofType type: Int64, fields: Set<String>?) throws

    /// Fills indexes that are not whole, and empties those that leave, by looking at so many records.
    ///
    /// - Returns: whether there is more to do.
    func workOnIndexes(recordsMax: Int) throws -> Bool
}

/// How far the filling of an index has come.
package struct IndexProgress: Sendable, Equatable {
    /// The last record that has been looked at.
    package let through: RecordNumber
    /// The last record that there is.
    package let last: RecordNumber

    package init(through: RecordNumber, last: RecordNumber) {
        self.through = through
        self.last = last
    }

    package var percent: Int { last.value <= 0 ? 0 : Int(through.value * 100 / last.value) }
}
