import CloudModel
import Storage

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

/// A record that an index of locations holds, and about where it lies.
package struct LocatedRecord: Sendable {
    /// How many metres the record's own place may be from `location`.
    ///
    /// An engine's index may keep a place in fewer bits than the record does.
    package static let metresOff = 10.0

    package let record: RecordNumber
    package let location: RecordQuery.Coordinate

    package init(record: RecordNumber, location: RecordQuery.Coordinate) {
        self.record = record
        self.location = location
    }
}

/// What a search for words looks for.
package struct WordSearch: Sendable {
    /// The words in UTF-8, as `Words` takes them from a text; not empty.
    package let words: [[UInt8]]
    /// Whether a record must have all of the words; else one is enough.
    package let needsAll: Bool

    package init(words: [[UInt8]], needsAll: Bool) {
        self.words = words
        self.needsAll = needsAll
    }
}
