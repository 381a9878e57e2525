import CloudModel
import Cryptography
import Storage

/// The place where a page of a query ended, as a client stores it (rulings.md 23 and 27).
///
/// It holds the values that the order sorts by, not a count. So a record that changes between two pages makes
/// the query neither skip nor repeat other records. It also names how the pages are read, so that all of them
/// have one order.
struct QueryMarker: Equatable {
    /// What the pages are read from.
    var source: QuerySource
    /// The last place that was looked at.
    var place: QueryPlace
    /// The position of the last change among the records that this page and earlier pages have shown.
    ///
    /// It may also be that of the caller's own zones. It tells nothing of records that the caller does not
    /// see.
    var reach: Position
}

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

/// Writes and reads the markers of one viewer's query.
struct QueryMarkers {
    private static let format: UInt8 = 1
    private static let codeBytes = 16
    /// Format, then what binds the marker.
    private static let boundBytes = 1 + 32
    /// The life of the store to which `reach` belongs, and `reach` itself.
    private static let lifeBytes = 8 + 8
    /// Source and record number.
    private static let placeBytes = 1 + 4 + 8

    private let key: HMACSHA256
    private let binding: [UInt8]
    private let identity: StoreIdentity

    /// - Parameters:
    ///   - key: prepared from the store's token key.
    ///   - zone: nil for a query of all zones.
    ///   - identity: from the snapshot that the page is read from.
    init(
        _ query: RecordQuery, zone: ZoneNumber?, of database: Database, key: HMACSHA256,
        identity: StoreIdentity
    ) {
        self.key = key
        self.identity = identity
        var text = QueryText()
        text.append(database.caller.userRecordName?.text ?? "")
        text.append(database.scope.rawValue)
        text.append(zone?.value ?? -1)
        text.append(query)
        binding = SHA256.digest(text.bytes)
    }

    func text(_ marker: QueryMarker) -> String {
        var text = QueryText()
        text.bytes.append(Self.format)
        text.bytes.append(contentsOf: binding)
        text.append(identity.incarnation(reaching: marker.reach))
        text.append(marker.reach)
        text.bytes.append(marker.source.kind.rawValue)
        text.append(UInt32(truncatingIfNeeded: (marker.source.filter ?? -1) + 1))
        text.append(marker.place.record.value)
        for key in marker.place.keys { text.append(key) }
        let code = key.code(for: text.bytes, bytes: Self.codeBytes)
        return Base64.encode(text.bytes + code)
    }

    /// - Throws: `Fault` BAD_REQUEST for a marker that is unreadable, forged, expired, or of another query,
    ///   zone or viewer. A marker has expired when it names what the store has lost.
    func read(_ text: String) throws(Fault) -> QueryMarker {
        guard let bytes = Base64.decode(text),
            bytes.count >= Self.boundBytes + Self.lifeBytes + Self.placeBytes + Self.codeBytes,
            key.isValid(
                Array(bytes.suffix(Self.codeBytes)), for: Array(bytes.dropLast(Self.codeBytes))),
            bytes[0] == Self.format, Array(bytes[1..<Self.boundBytes]) == binding
        else { throw Self.unknown }
        var reader = QueryTextReader(bytes[Self.boundBytes..<(bytes.count - Self.codeBytes)])
        guard let incarnation = reader.number(Int64.self), let reach = reader.number(Int64.self)
        else { throw Self.unknown }
        guard identity.knows(incarnation, through: reach) else {
            throw .changeTokenExpired(
                "the server has gone back to an earlier state; start without continuationMarker")
        }
        guard let marker = Self.marker(&reader, reach) else { throw Self.unknown }
        return marker
    }

    static let unknown = Fault.badRequest(
        "continuationMarker: expected one that this query got, for the same query, zone and caller; "
            + "start without it")

    private static func marker(_ reader: inout QueryTextReader, _ reach: Position) -> QueryMarker? {
        guard let kind = reader.byte().flatMap({ QuerySource.Kind(rawValue: $0) }),
            let filter = reader.number(UInt32.self), let record = reader.number(Int64.self)
        else { return nil }
        var keys: [SortKey] = []
        while !reader.isAtEnd {
            guard let key = reader.sortKey() else { return nil }
            keys.append(key)
        }
        return QueryMarker(
            source: QuerySource(kind: kind, filter: filter == 0 ? nil : Int(filter) - 1),
            place: QueryPlace(keys: keys, record: RecordNumber(record)), reach: reach)
    }
}

/// Bytes that identify a query, or a place in its results.
struct QueryText {
    var bytes: [UInt8] = []

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ text: String) { append(utf8: Array(text.utf8)) }

    /// Puts the length first, so that no two texts can be taken for others that are split elsewhere.
    mutating func append(utf8 text: [UInt8]) {
        append(UInt32(truncatingIfNeeded: text.count))
        bytes.append(contentsOf: text)
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
            append(utf8: text)
        case .distance(let metres):
            bytes.append(4)
            append(metres.bitPattern)
        }
    }

    mutating func append(_ query: RecordQuery) {
        append(query.type.text)
        append(query.filters.count)
        for filter in query.filters {
            append(filter.subject.name)
            append(filter.comparator.rawValue)
            append(filter.type.stored)
            append((filter.distance ?? -1).bitPattern)
            append(filter.value)
        }
        for sort in query.sorts {
            append(sort.subject.name)
            bytes.append(sort.ascending ? 1 : 0)
            if let place = sort.relativeTo { append(.location(place)) }
        }
    }

    private mutating func append(_ value: RecordQuery.Value) {
        switch value {
        case .string(let text):
            bytes.append(1)
            append(text)
        case .int64(let number):
            bytes.append(2)
            append(number)
        case .double(let number):
            bytes.append(3)
            append(number.bitPattern)
        case .timestamp(let moment):
            bytes.append(4)
            append(moment)
        case .bytes(let data):
            bytes.append(5)
            append(utf8: data)
        case .reference(let name, let zone):
            bytes.append(6)
            append(name.text)
            append(zone?.text ?? "")
        case .user(let name):
            bytes.append(7)
            append(name)
        case .location(let place):
            bytes.append(8)
            append(place.latitude.bitPattern)
            append(place.longitude.bitPattern)
        case .list(let members):
            bytes.append(9)
            append(members.count)
            for member in members { append(member) }
        }
    }
}

/// Reads what `QueryText` wrote; nil for anything else.
private struct QueryTextReader {
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
