/// A parsed JSON text: its bytes and where each value of it lies.
///
/// Parsing makes no tree. It notes one entry for each value, in the order of the text, and for objects and
/// arrays where they end. `JSONView` walks the entries. Texts of servers are trusted to be large, not to be
/// right: anything that is not JSON is refused, and no depth of nesting can exhaust the stack.
public final class JSONTape: Sendable {
    /// What a value is.
    enum Kind: UInt8, Sendable {
        case null, `true`, `false`, number, string, escapedString, object, array
    }

    /// One value.
    ///
    /// The key of a member comes just before its value, as a string.
    struct Entry: Sendable {
        let kind: Kind
        /// Where its text begins: after the quote for strings.
        let start: UInt32
        /// Where its text ends, for scalars.
        ///
        /// For objects and arrays the number of the entry after them.
        var end: UInt32
    }

    /// Why a text is no JSON, and where.
    public struct Malformed: Error, Equatable, CustomStringConvertible {
        /// The offset of the byte that cannot stand there.
        public let offset: Int

        /// Where the text stops being JSON.
        public var description: String { "not JSON at byte \(offset)" }
    }

    /// Values in each other; deeper ones are refused.
    static let depthMax = 128

    let bytes: [UInt8]
    let entries: [Entry]

    /// Parses a text.
    ///
    /// - Parameter bytes: UTF-8, below 4 GiB.
    /// - Throws: `Malformed` for anything but one JSON value.
    public init(_ bytes: [UInt8]) throws(Malformed) {
        var parser = JSONTapeParser(byteCount: bytes.count)
        try bytes.withUnsafeBufferPointer { (text) throws(Malformed) in try parser.parse(text) }
        self.bytes = bytes
        entries = parser.entries
    }

    /// The value of the text as a whole.
    public var root: JSONView { JSONView(tape: self, index: 0) }

    /// Looks for a member by its key, without a view for each that it passes.
    ///
    /// - Parameters:
    ///   - start: the first key of the object.
    ///   - end: the entry after the object.
    /// - Returns: the number of the value; nil where there is none.
    func member(
        _ key: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> Int? {
        entries.withUnsafeBufferPointer { entries in
            bytes.withUnsafeBufferPointer { bytes in
                var position = start
                while position < end {
                    let name = entries[position]
                    let text = bytes[Int(name.start)..<Int(name.end)]
                    let isFound =
                        name.kind == .string
                        ? text.count == key.count && text.elementsEqual(key)
                        : JSONView.unescaped(Array(text)[...]).utf8.elementsEqual(key)
                    if isFound { return position + 1 }
                    let value = entries[position + 1]
                    switch value.kind {
                    case .object, .array: position = Int(value.end)
                    default: position += 2
                    }
                }
                return nil
            }
        }
    }
}

/// Notes the values of a text, without recursion.
private struct JSONTapeParser {
    var entries: [JSONTape.Entry] = []
    /// The entries of the objects and arrays that are open.
    private var open: [Int] = []

    init(byteCount: Int) {
        entries.reserveCapacity(byteCount / 12 + 16)
    }

    typealias Text = UnsafeBufferPointer<UInt8>

    mutating func parse(_ text: Text) throws(JSONTape.Malformed) {
        guard text.count < UInt32.max else { throw JSONTape.Malformed(offset: 0) }
        var position = Self.skipSpace(text, from: 0)
        try beginValue(text, &position)
        while let container = open.last {
            position = Self.skipSpace(text, from: position)
            guard position < text.count else { throw JSONTape.Malformed(offset: position) }
            let isObject = entries[container].kind == .object
            let closing: UInt8 = isObject ? 0x7D : 0x5D
            let isFirst = entries.count == container + 1
            if text[position] == closing {
                position += 1
                entries[container].end = UInt32(entries.count)
                open.removeLast()
                continue
            }
            if !isFirst {
                guard text[position] == 0x2C else { throw JSONTape.Malformed(offset: position) }
                position = Self.skipSpace(text, from: position + 1)
            }
            if isObject { try key(text, &position) }
            try beginValue(text, &position)
        }
        position = Self.skipSpace(text, from: position)
        guard position == text.count else { throw JSONTape.Malformed(offset: position) }
    }

    private mutating func key(
        _ text: Text, _ position: inout Int
    ) throws(JSONTape.Malformed) {
        guard position < text.count, text[position] == 0x22 else {
            throw JSONTape.Malformed(offset: position)
        }
        try string(text, &position)
        position = Self.skipSpace(text, from: position)
        guard position < text.count, text[position] == 0x3A else {
            throw JSONTape.Malformed(offset: position)
        }
        position = Self.skipSpace(text, from: position + 1)
    }

    /// Notes a scalar whole, and of an object or array its beginning.
    private mutating func beginValue(
        _ text: Text, _ position: inout Int
    ) throws(JSONTape.Malformed) {
        guard position < text.count else { throw JSONTape.Malformed(offset: position) }
        switch text[position] {
        case 0x22: try string(text, &position)
        case 0x7B, 0x5B:
            guard open.count < JSONTape.depthMax else {
                throw JSONTape.Malformed(offset: position)
            }
            open.append(entries.count)
            entries.append(
                JSONTape.Entry(
                    kind: text[position] == 0x7B ? .object : .array, start: UInt32(position),
                    end: 0))
            position += 1
        case 0x74: try word("true", .true, text, &position)
        case 0x66: try word("false", .false, text, &position)
        case 0x6E: try word("null", .null, text, &position)
        default: try number(text, &position)
        }
    }

    private mutating func word(
        _ word: StaticString, _ kind: JSONTape.Kind, _ text: Text, _ position: inout Int
    ) throws(JSONTape.Malformed) {
        let start = position
        for index in 0..<word.utf8CodeUnitCount {
            guard position < text.count, text[position] == word.utf8Start[index] else {
                throw JSONTape.Malformed(offset: position)
            }
            position += 1
        }
        entries.append(
            JSONTape.Entry(kind: kind, start: UInt32(start), end: UInt32(position)))
    }

    private mutating func string(
        _ text: Text, _ position: inout Int
    ) throws(JSONTape.Malformed) {
        let start = position + 1
        var index = start
        var isEscaped = false
        while true {
            guard index < text.count else { throw JSONTape.Malformed(offset: index) }
            let byte = text[index]
            if byte == 0x22 { break }
            guard byte >= 0x20 else { throw JSONTape.Malformed(offset: index) }
            if byte == 0x5C {
                isEscaped = true
                index = try Self.afterEscape(text, at: index)
            } else {
                index += 1
            }
        }
        entries.append(
            JSONTape.Entry(
                kind: isEscaped ? .escapedString : .string, start: UInt32(start),
                end: UInt32(index)))
        position = index + 1
    }

    private static func afterEscape(
        _ text: Text, at index: Int
    ) throws(JSONTape.Malformed) -> Int {
        guard index + 1 < text.count else { throw JSONTape.Malformed(offset: index) }
        switch text[index + 1] {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return index + 2
        case 0x75:
            guard index + 5 < text.count,
                (index + 2...index + 5).allSatisfy({ isHexadecimal(text[$0]) })
            else { throw JSONTape.Malformed(offset: index) }
            return index + 6
        default: throw JSONTape.Malformed(offset: index)
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    private mutating func number(
        _ text: Text, _ position: inout Int
    ) throws(JSONTape.Malformed) {
        let start = position
        if position < text.count, text[position] == 0x2D { position += 1 }
        let first = position
        try digits(text, &position)
        // A zero stands alone.
        if text[first] == 0x30, position > first + 1 {
            throw JSONTape.Malformed(offset: first + 1)
        }
        if position < text.count, text[position] == 0x2E {
            position += 1
            try digits(text, &position)
        }
        if position < text.count, text[position] == 0x65 || text[position] == 0x45 {
            position += 1
            if position < text.count, text[position] == 0x2B || text[position] == 0x2D {
                position += 1
            }
            try digits(text, &position)
        }
        entries.append(
            JSONTape.Entry(kind: .number, start: UInt32(start), end: UInt32(position)))
    }

    private func digits(_ text: Text, _ position: inout Int) throws(JSONTape.Malformed) {
        let start = position
        while position < text.count, text[position] >= 0x30, text[position] <= 0x39 {
            position += 1
        }
        guard position > start else { throw JSONTape.Malformed(offset: position) }
    }

    private static func skipSpace(_ text: Text, from start: Int) -> Int {
        var position = start
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return position
            }
        }
        return position
    }
}
