/// A value of CBOR (RFC 8949), as far as authenticators write it.
indirect enum CBORValue: Sendable, Equatable {
    case unsigned(UInt64)
    /// Stands for -1 less this number.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    /// In the order received; no key twice.
    case map([CBORMember])
    /// true, false, null, and numbers with a fraction, none of which is looked at.
    case other

    /// A member of a map by a text; nil when it is absent or this is no map.
    subscript(_ key: String) -> CBORValue? { member(.text(key)) }

    /// A member of a map by a small whole number.
    subscript(_ key: Int) -> CBORValue? {
        member(key < 0 ? .negative(UInt64(-1 - key)) : .unsigned(UInt64(key)))
    }

    private func member(_ key: CBORValue) -> CBORValue? {
        guard case .map(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { return bytes }
        return nil
    }

    var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// A whole number that fits; nil for any other kind.
    var integer: Int? {
        switch self {
        case .unsigned(let number): Int(exactly: number)
        case .negative(let number): Int(exactly: number).map { -1 - $0 }
        default: nil
        }
    }
}

/// A key of a map and what stands under it.
struct CBORMember: Sendable, Equatable {
    let key: CBORValue
    let value: CBORValue
}

/// Why bytes are not taken as CBOR.
enum CBORRefusal: Error, Equatable {
    /// They end within a value.
    case truncated
    /// Lengths that are not said before, reserved kinds, tags, or text that is not UTF-8.
    case unsupported
    case duplicateKey
    case tooDeep
    case tooMany
}

/// Reads CBOR within limits: what authenticators send is short and flat.
struct CBORReader {
    static let depthMax = 8
    /// Of all values together.
    static let valuesMax = 512

    private let bytes: [UInt8]
    private var position: Int
    private var valueCount = 0

    /// - Parameter position: where the value begins.
    init(_ bytes: [UInt8], at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// Reads one value.
    ///
    /// - Returns: the value, and where it ends.
    /// - Throws: `CBORRefusal`.
    static func value(
        _ bytes: [UInt8], at position: Int = 0
    ) throws(CBORRefusal) -> (value: CBORValue, end: Int) {
        var reader = CBORReader(bytes, at: position)
        let value = try reader.next(depth: 0)
        return (value, reader.position)
    }

    private mutating func next(depth: Int) throws(CBORRefusal) -> CBORValue {
        guard depth < Self.depthMax else { throw .tooDeep }
        valueCount += 1
        guard valueCount <= Self.valuesMax else { throw .tooMany }
        guard position < bytes.count else { throw .truncated }
        let initial = bytes[position]
        position += 1
        let argument = try argument(initial & 31)
        switch initial >> 5 {
        case 0: return .unsigned(argument)
        case 1: return .negative(argument)
        case 2: return .bytes(Array(try take(argument)))
        case 3:
            guard let text = String(validating: try take(argument), as: UTF8.self) else {
                throw .unsupported
            }
            return .text(text)
        case 4: return .array(try elements(argument, depth: depth))
        case 5: return .map(try members(argument, depth: depth))
        case 7: return .other
        default: throw .unsupported
        }
    }

    /// The number behind the kind: in the same byte, or in 1, 2, 4 or 8 more.
    private mutating func argument(_ short: UInt8) throws(CBORRefusal) -> UInt64 {
        guard short >= 24 else { return UInt64(short) }
        guard short < 28 else { throw .unsupported }
        return try take(1 << UInt64(short - 24)).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func take(_ count: UInt64) throws(CBORRefusal) -> ArraySlice<UInt8> {
        guard count <= UInt64(bytes.count - position) else { throw .truncated }
        let end = position + Int(count)
        defer { position = end }
        return bytes[position..<end]
    }

    private mutating func elements(
        _ count: UInt64, depth: Int
    ) throws(CBORRefusal) -> [CBORValue] {
        guard count <= UInt64(Self.valuesMax) else { throw .tooMany }
        var elements: [CBORValue] = []
        for _ in 0..<count { elements.append(try next(depth: depth + 1)) }
        return elements
    }

    private mutating func members(
        _ count: UInt64, depth: Int
    ) throws(CBORRefusal) -> [CBORMember] {
        guard count <= UInt64(Self.valuesMax) else { throw .tooMany }
        var members: [CBORMember] = []
        for _ in 0..<count {
            let key = try next(depth: depth + 1)
            guard !members.contains(where: { $0.key == key }) else { throw .duplicateKey }
            members.append(CBORMember(key: key, value: try next(depth: depth + 1)))
        }
        return members
    }
}
