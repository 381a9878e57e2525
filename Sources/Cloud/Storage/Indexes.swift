import CloudModel

/// One index over a field of a record type, as a snapshot has it.
package struct StoredIndex: Sendable, Equatable {
    package enum State: Int64, Sendable {
        case filling = 0
        case whole = 1
        /// No query needs it any more: it is being emptied.
        case leaving = 2
    }

    /// Never used again by another index.
    package let number: Int64
    /// The number of the record type.
    package let type: Int64
    package let need: IndexNeed
    package var state: State
    /// While the index is not whole: the last record that it already holds.
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

    /// Whether the index already holds a record's values, so that writes must keep them up to date.
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

/// The rows of one zone in an index between two places, without rows at the places themselves.
package struct IndexRange: Sendable {
    /// Which rows of an index: each record has either its values, or one row that says that it has none.
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

    /// The records without a value, in the order of their numbers: each has the value 0 here.
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

/// A record that an index of places holds, and about where it lies.
package struct PlacedRecord: Sendable {
    /// How many metres the record's own place may be from `place`.
    ///
    /// An engine's index may keep a place in fewer bits than the record does.
    package static let metresOff = 10.0

    package let record: RecordNumber
    package let place: RecordQuery.Place

    package init(record: RecordNumber, place: RecordQuery.Place) {
        self.record = record
        self.place = place
    }
}

/// What a search for words looks for.
package struct WordSearch: Sendable {
    /// The words in UTF-8, as `IndexReader.words` takes them from a text; not empty.
    package let words: [[UInt8]]
    /// Whether a record must have all of the words; else one is enough.
    package let needsAll: Bool

    package init(words: [[UInt8]], needsAll: Bool) {
        self.words = words
        self.needsAll = needsAll
    }
}

/// What a read sees of the indexes that queries use.
///
/// A whole index says of each living record exactly what the record's body says at the snapshot's moment, but in zones
/// in which it is late.
/// Values sort alike on every machine, whatever its language: numbers by value and before all text, texts by
/// code points, as their UTF-8 does. The limit of a call bounds what the call reads.
package protocol IndexReader: AnyObject {
    /// The indexes of a record type, in any state.
    func indexes(ofType type: Int64) throws -> [StoredIndex]

    /// Appends the first rows of a range in ascending order, or the last ones in descending order.
    func append(
        _ range: IndexRange, descending: Bool, limit: Int, to rows: inout [IndexRow]) throws

    /// A record's exact place, as the record itself has it, not rounded as in an index of places.
    func place(of record: RecordNumber, in index: Int64) throws -> RecordQuery.Place?

    /// How many rows a range has, counted up to a limit.
    func count(_ range: IndexRange, limit: Int) throws -> Int

    /// The records of a zone in a rectangle, in no order, that an index of places holds.
    func places(
        of index: Int64, in zone: ZoneNumber, _ rectangle: RecordQuery.Place.Rectangle, limit: Int
    ) throws -> [PlacedRecord]

    /// The records of a zone in a ring, in no order, that an index of places holds.
    ///
    /// Some of them may lie near the ring's edges without being in it.
    func places(
        of index: Int64, in zone: ZoneNumber, _ ring: GlobeRing, limit: Int
    ) throws -> [PlacedRecord]

    /// The records of a zone that have words: in the order of their numbers, after one, at most `limit`.
    func records(
        of index: Int64, in zone: ZoneNumber, with search: WordSearch, after: RecordNumber,
        limit: Int
    ) throws -> [RecordNumber]

    /// Whether the index lacks entries of a zone's living records that were left for later, or has some of a former
    /// version: then it finds too few records, or wrong ones.
    func isLate(_ index: Int64, in zone: ZoneNumber) throws -> Bool

    /// The different words of a text, as an index of words takes them.
    ///
    /// Words are runs of letters and digits, regardless of case and diacritics. Each is cut at 64 bytes of
    /// UTF-8, never within a letter. Every engine finds the same words in a text: `StorageConformance` has a
    /// table of them.
    func words(in text: String) throws -> [[UInt8]]

    /// Visits the current versions of records, in the records' order; skips those that have none.
    ///
    /// - Parameter visit: gets the index of the record in `records`, and the version; false ends the visits. It may
    ///   read anything but further versions.
    func versions(
        of records: [RecordNumber], _ visit: (_ index: Int, StoredVersion) throws -> Bool) throws

    /// The greatest record number so far, of any type; 0 for none.
    func lastRecord() throws -> RecordNumber

    /// Ends the snapshot earlier than it would end by itself.
    ///
    /// Later reads of it fail with `StorageFailure.interrupted`.
    func endSnapshot(afterMilliseconds milliseconds: Int)
}

/// What a write does with indexes.
///
/// The engine itself updates them for the records that the write saves. What takes long it may leave for later
/// (`Store.writeLateEntries`).
package protocol IndexWriting: AnyObject {
    /// Makes the indexes of a record type that do not exist yet; queued work fills them.
    func makeIndexes(_ needs: [IndexNeed], ofType type: Int64) throws

    /// Drops indexes of a record type: from now on no query uses them, and queued work empties them.
    ///
    /// - Parameter fields: drops the indexes of these fields; nil drops all indexes of the type.
    func dropIndexes(ofType type: Int64, fields: Set<String>?) throws

    /// Fills indexes that are not whole, empties dropped ones, and puts entries in order where the engine lets them wait;
    /// looks at no more than `recordsMax` records.
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
