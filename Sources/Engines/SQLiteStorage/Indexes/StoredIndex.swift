import CloudModel
import Storage

/// One index over a field of a record type, as a snapshot has it.
struct StoredIndex: Sendable, Equatable {
    enum State: Int64, Sendable {
        case filling = 0
        case whole = 1
        /// No query needs it any more: it is being emptied.
        case leaving = 2
    }

    /// Never used again by another index.
    let number: Int64
    /// The number of the record type.
    let type: Int64
    let need: IndexNeed
    var state: State
    /// While the index is not whole: the last record that it already holds.
    var filledThrough: RecordNumber

    /// Whether the index already holds a record's values, so that writes must keep them up to date.
    func holds(_ record: RecordNumber) -> Bool {
        state == .whole || record.value <= filledThrough.value
    }
}

/// A place between the rows of an index, which are ordered by value and then record.
struct IndexPosition: Sendable, Hashable {
    enum Value: Sendable, Hashable {
        /// Before every value.
        case lowest
        case value(IndexValue)
        /// After every value.
        case highest
    }

    var value: Value
    var record: Int64

    /// The place of a row.
    init(_ value: IndexValue, _ record: RecordNumber) {
        self.value = .value(value)
        self.record = record.value
    }

    private init(_ value: Value, _ record: Int64) {
        self.value = value
        self.record = record
    }

    static let lowest = IndexPosition(.lowest, 0)
    static let highest = IndexPosition(.highest, 0)

    /// Before the rows of a value.
    static func before(_ value: IndexValue) -> IndexPosition {
        IndexPosition(.value(value), 0)
    }

    /// After the rows of a value.
    static func after(_ value: IndexValue) -> IndexPosition {
        IndexPosition(.value(value), .max)
    }
}

extension IndexPosition: Comparable {
    static func < (left: IndexPosition, right: IndexPosition) -> Bool {
        left.value == right.value ? left.record < right.record : left.value < right.value
    }
}

extension IndexPosition.Value: Comparable {
    static func < (left: IndexPosition.Value, right: IndexPosition.Value) -> Bool {
        switch (left, right) {
        case (.value(let left), .value(let right)): left < right
        case (.lowest, .lowest), (.highest, _): false
        case (.lowest, _), (_, .highest): true
        case (_, .lowest): false
        }
    }
}

/// The rows of one zone in an index between two places, without rows at the places themselves.
struct IndexRange: Sendable {
    /// Which rows of an index: each record has either its values, or one row that says that it has none.
    enum Rows: Sendable { case values, absent }

    /// The number of the index.
    var index: Int64
    var rows: Rows
    var zone: ZoneNumber
    var from: IndexPosition
    var to: IndexPosition

    init(
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
    static func absent(index: Int64, zone: ZoneNumber) -> IndexRange {
        IndexRange(index: index, rows: .absent, zone: zone)
    }
}

/// One row of an index.
struct IndexRow: Sendable {
    let value: IndexValue
    let record: RecordNumber
}

/// A record that an index of locations holds, and about where it lies.
struct LocatedRecord: Sendable {
    /// How many metres the record's own place may be from `location`.
    ///
    /// An engine's index may keep a place in fewer bits than the record does.
    static let metresOff = 10.0

    let record: RecordNumber
    let location: RecordQuery.Coordinate
}

/// What a search for words looks for.
struct WordSearch: Sendable {
    /// The words in UTF-8, as `SQLiteIndexReader.words` takes them from a text; not empty.
    let words: [[UInt8]]
    /// Whether a record must have all of the words; else one is enough.
    let needsAll: Bool

    init(words: [[UInt8]], needsAll: Bool) {
        self.words = words
        self.needsAll = needsAll
    }
}
