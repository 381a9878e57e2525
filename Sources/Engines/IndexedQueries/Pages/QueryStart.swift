import CloudModel
import Storage

/// What a query's results are read from, in the query's order.
struct QuerySource: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        /// One index, walked in the order of its values.
        case walk = 1
        /// One index at several values, or other sets of records, in the order of record numbers.
        case records = 2
        /// As `records`, then brought into the order of the sorts.
        case sorted = 3
    }

    var kind: Kind
    /// The filter whose index is read.
    ///
    /// Nil means the index of the first sort, or of all records. For sets, it means what a participant sees.
    var filter: Int?
}

/// Where a page ended: what the pages are read from, so that all of them have one order, and the last place that was
/// looked at.
struct QueryStart: Equatable {
    var source: QuerySource
    var sortedRecord: SortedRecord

    /// - Throws: `QueryRefusal.unknownCursor`.
    init(_ cursor: QueryCursor) throws {
        var reader = CursorReader(cursor.bytes[...])
        guard let kind = reader.byte().flatMap({ QuerySource.Kind(rawValue: $0) }),
            let filter = reader.number(UInt32.self), let record = reader.number(Int64.self)
        else { throw QueryRefusal.unknownCursor }
        var keys: [SortKey] = []
        while !reader.isAtEnd {
            guard let key = reader.sortKey() else { throw QueryRefusal.unknownCursor }
            keys.append(key)
        }
        source = QuerySource(kind: kind, filter: filter == 0 ? nil : Int(filter) - 1)
        sortedRecord = SortedRecord(keys: keys, record: RecordNumber(record))
    }

    init(source: QuerySource, sortedRecord: SortedRecord) {
        self.source = source
        self.sortedRecord = sortedRecord
    }

    var cursor: QueryCursor {
        var text = CursorText()
        text.bytes.append(source.kind.rawValue)
        text.append(UInt32(truncatingIfNeeded: (source.filter ?? -1) + 1))
        text.append(sortedRecord.record.value)
        for key in sortedRecord.keys { text.append(key) }
        return QueryCursor(text.bytes)
    }
}

private struct CursorText {
    var bytes: [UInt8] = []

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ key: SortKey) {
        switch key {
        case .absent: bytes.append(0)
        case .value(.integer(let number)):
            bytes.append(1)
            append(number)
        case .value(.real(let number)):
            bytes.append(2)
            append(number.bitPattern)
        case .value(.text(let text)):
            bytes.append(3)
            append(UInt32(truncatingIfNeeded: text.count))
            bytes.append(contentsOf: text)
        case .distance(let metres):
            bytes.append(4)
            append(metres.bitPattern)
        }
    }
}

/// Reads what `CursorText` wrote; nil for anything else.
private struct CursorReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        let width = Number.bitWidth / 8
        guard rest.count >= width else { return nil }
        defer { rest = rest.dropFirst(width) }
        return rest.prefix(width).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func sortKey() -> SortKey? {
        switch byte() {
        case 0: return .absent
        case 1: return number(Int64.self).map { .value(.integer($0)) }
        case 2: return number(UInt64.self).map { .value(IndexValue(Double(bitPattern: $0))) }
        case 3:
            guard let count = number(UInt32.self), rest.count >= Int(count) else { return nil }
            defer { rest = rest.dropFirst(Int(count)) }
            return .value(.text(Array(rest.prefix(Int(count)))))
        case 4: return number(UInt64.self).map { .distance(Double(bitPattern: $0)) }
        default: return nil
        }
    }
}
