import CloudModel
import Cryptography
import Storage

/// The place where a page of a query ended, as a client stores it (rulings.md 23 and 27).
///
/// It holds the place as the engine has it, bound to the query and to its viewer.
struct QueryMarker: Equatable {
    /// Where the next page begins.
    var cursor: QueryCursor
    /// The position of the last change among the records that this page and earlier pages have shown.
    ///
    /// It may also be that of the caller's own zones. It tells nothing of records that the caller does not
    /// see.
    var reach: Position
}

/// Writes and reads the markers of one viewer's query.
struct QueryMarkers {
    private static let format: UInt8 = 1
    private static let codeBytes = 16
    /// Format, then what binds the marker.
    private static let boundBytes = 1 + 32
    /// The life of the store to which `reach` belongs, and `reach` itself.
    private static let lifeBytes = 8 + 8

    private let key: HMACSHA256
    private let binding: [UInt8]
    private let identity: StoreIdentity

    /// - Parameters:
    ///   - key: prepared from the store's token key.
    ///   - sight: a reader that may no longer see what it saw begins again.
    ///   - zone: nil for a query of all zones.
    ///   - identity: from the snapshot that the page is read from.
    init(
        _ query: RecordQuery, by sight: QuerySight, zone: ZoneNumber?, of database: Database,
        key: HMACSHA256,
        identity: StoreIdentity
    ) {
        self.key = key
        self.identity = identity
        var text = QueryText()
        text.append(database.caller.userRecordName?.text ?? "")
        text.append(database.scope.rawValue)
        text.append(zone?.value ?? -1)
        text.append(query)
        if case .made(by: let user) = sight { text.append(user.text) }
        binding = SHA256.digest(text.bytes)
    }

    func text(_ marker: QueryMarker) -> String {
        var text = QueryText()
        text.bytes.append(Self.format)
        text.bytes.append(contentsOf: binding)
        text.append(identity.incarnation(reaching: marker.reach))
        text.append(marker.reach)
        text.bytes.append(contentsOf: marker.cursor.bytes)
        let code = key.code(for: text.bytes, bytes: Self.codeBytes)
        return Base64.encode(text.bytes + code)
    }

    /// - Throws: `Fault` BAD_REQUEST for a marker that is unreadable, forged, expired, or of another query,
    ///   zone or viewer. A marker has expired when it names what the store has lost.
    func read(_ text: String) throws(Fault) -> QueryMarker {
        guard let bytes = Base64.decode(text),
            bytes.count >= Self.boundBytes + Self.lifeBytes + Self.codeBytes,
            key.isValid(
                Array(bytes.suffix(Self.codeBytes)), for: Array(bytes.dropLast(Self.codeBytes))),
            bytes[0] == Self.format, Array(bytes[1..<Self.boundBytes]) == binding
        else { throw Self.unknown }
        let life = bytes[Self.boundBytes..<Self.boundBytes + Self.lifeBytes]
        let (incarnation, reach) = (Self.number(life.prefix(8)), Self.number(life.suffix(8)))
        guard identity.knows(incarnation, through: reach) else {
            throw .changeTokenExpired(
                "the server has gone back to an earlier state; start without continuationMarker")
        }
        let cursor = bytes[(Self.boundBytes + Self.lifeBytes)..<(bytes.count - Self.codeBytes)]
        return QueryMarker(cursor: QueryCursor(Array(cursor)), reach: reach)
    }

    static let unknown = Fault.badRequest(
        "continuationMarker: expected one that this query got, for the same query, zone and caller; "
            + "start without it")

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// Bytes that identify a query.
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
            if let location = sort.relativeTo { append(.location(location)) }
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
        case .location(let location):
            bytes.append(8)
            append(location.latitude.bitPattern)
            append(location.longitude.bitPattern)
        case .list(let members):
            bytes.append(9)
            append(members.count)
            for member in members { append(member) }
        }
    }
}
