/// One value of a parsed text.
///
/// Asking for what the value is not gives nil. A view keeps the whole text alive.
public struct JSONView: Sendable {
    let tape: JSONTape
    let index: Int

    private var entry: JSONTape.Entry { tape.entries[index] }

    /// The number of the entry after this value and all that is in it.
    private var entryAfter: Int {
        let entry = entry
        switch entry.kind {
        case .object, .array: return Int(entry.end)
        default: return index + 1
        }
    }

    /// Whether it is `null`.
    public var isNull: Bool { entry.kind == .null }

    /// Whether it is an object.
    public var isObject: Bool { entry.kind == .object }

    /// A truth value.
    public var bool: Bool? {
        switch entry.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// A whole number that fits; a number with a fraction or exponent is not one.
    public var int64: Int64? {
        guard entry.kind == .number else { return nil }
        return Self.integer(scalarText)
    }

    /// Any number that a `Double` can hold.
    public var double: Double? {
        guard entry.kind == .number else { return nil }
        if let whole = int64, whole.magnitude < 1 << 53 { return Double(whole) }
        return Double(String(decoding: scalarText, as: UTF8.self)).flatMap {
            $0.isFinite ? $0 : nil
        }
    }

    /// A text, with its escapes undone.
    public var string: String? {
        switch entry.kind {
        case .string: String(decoding: scalarText, as: UTF8.self)
        case .escapedString: Self.unescaped(scalarText)
        default: nil
        }
    }

    /// The text of a scalar, without quotes.
    private var scalarText: ArraySlice<UInt8> {
        tape.bytes[Int(entry.start)..<Int(entry.end)]
    }

    /// Whether the value is a string of exactly these bytes; escaped strings never are.
    public func isString(_ text: StaticString) -> Bool {
        let entry = entry
        guard entry.kind == .string, Int(entry.end - entry.start) == text.utf8CodeUnitCount
        else { return false }
        return tape.bytes.withUnsafeBufferPointer { bytes in
            for offset in 0..<text.utf8CodeUnitCount
            where bytes[Int(entry.start) + offset] != text.utf8Start[offset] {
                return false
            }
            return true
        }
    }

    /// A member of an object; nil where there is none, and for other values.
    public subscript(key: String) -> JSONView? {
        guard isObject else { return nil }
        var key = key
        let found = key.withUTF8 { tape.member($0, from: index + 1, to: entryAfter) }
        return found.map { JSONView(tape: tape, index: $0) }
    }

    /// The members of an object in their order, keys as views; empty for other values.
    public var members: Members {
        Members(tape: tape, position: index + 1, end: isObject ? entryAfter : 0)
    }

    /// The elements of an array in their order; empty for other values.
    public var elements: Elements {
        Elements(tape: tape, position: index + 1, end: isArray ? entryAfter : 0)
    }

    /// Whether it is an array.
    public var isArray: Bool { entry.kind == .array }

    /// The bytes of the value as they stand in the text.
    public var text: ArraySlice<UInt8> {
        let entry = entry
        switch entry.kind {
        case .string, .escapedString:
            return tape.bytes[Int(entry.start) - 1..<Int(entry.end) + 1]
        case .object, .array:
            return tape.bytes[Int(entry.start)..<closingOffset]
        default: return scalarText
        }
    }

    private var closingOffset: Int {
        var depth = 0
        var position = Int(entry.start)
        var isInString = false
        while position < tape.bytes.count {
            let byte = tape.bytes[position]
            if isInString {
                if byte == 0x5C { position += 1 }
                if byte == 0x22 { isInString = false }
            } else if byte == 0x22 {
                isInString = true
            } else if byte == 0x7B || byte == 0x5B {
                depth += 1
            } else if byte == 0x7D || byte == 0x5D {
                depth -= 1
                if depth == 0 { return position + 1 }
            }
            position += 1
        }
        return position
    }

    /// Goes through an object.
    public struct Members: Sequence, IteratorProtocol, Sendable {
        let tape: JSONTape
        var position: Int
        let end: Int

        /// The next one; nil after the last.
        public mutating func next() -> (name: JSONView, value: JSONView)? {
            guard position < end else { return nil }
            let name = JSONView(tape: tape, index: position)
            let value = JSONView(tape: tape, index: position + 1)
            position = value.entryAfter
            return (name, value)
        }
    }

    /// Goes through an array.
    public struct Elements: Sequence, IteratorProtocol, Sendable {
        let tape: JSONTape
        var position: Int
        let end: Int

        /// The next one; nil after the last.
        public mutating func next() -> JSONView? {
            guard position < end else { return nil }
            let value = JSONView(tape: tape, index: position)
            position = value.entryAfter
            return value
        }
    }

    private static func integer(_ digits: ArraySlice<UInt8>) -> Int64? {
        var rest = digits
        let isNegative = rest.first == 0x2D
        if isNegative { rest = rest.dropFirst() }
        var value: Int64 = 0
        for digit in rest {
            guard digit >= 0x30, digit <= 0x39 else { return nil }
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            guard !overflowed else { return nil }
            let (sum, carried) = product.subtractingReportingOverflow(Int64(digit - 0x30))
            guard !carried else { return nil }
            // Kept negative, since the smallest number has no positive twin.
            value = sum
        }
        guard !isNegative else { return value }
        let (positive, overflowed) = (0 as Int64).subtractingReportingOverflow(value)
        return overflowed ? nil : positive
    }

    static func unescaped(_ text: ArraySlice<UInt8>) -> String {
        var units: [UInt16] = []
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        func flush() {
            guard !units.isEmpty else { return }
            bytes.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
            units.removeAll()
        }
        var index = text.startIndex
        while index < text.endIndex {
            guard text[index] == 0x5C else {
                flush()
                bytes.append(text[index])
                index += 1
                continue
            }
            let code = text[index + 1]
            guard code == 0x75 else {
                flush()
                bytes.append(Self.plain(code))
                index += 2
                continue
            }
            let digits = String(decoding: text[index + 2..<index + 6], as: UTF8.self)
            units.append(UInt16(digits, radix: 16) ?? 0xFFFD)
            index += 6
        }
        flush()
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func plain(_ code: UInt8) -> UInt8 {
        switch code {
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: 0x0A
        case 0x72: 0x0D
        case 0x74: 0x09
        default: code
        }
    }
}
