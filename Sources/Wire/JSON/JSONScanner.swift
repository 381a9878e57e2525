/// Steps over one token at a time and checks it; the grammar between tokens is the parser's.
///
/// Every function takes the place where its token starts and returns the place after it.
struct JSONScanner {
    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>

    @inline(__always)
    func refusal(
        at cursor: UnsafePointer<UInt8>, _ expectation: JSONRefusal.Expectation
    ) -> JSONRefusal {
        JSONRefusal(offset: cursor - start, expectation: expectation)
    }

    @inline(__always)
    func skipSpace(_ from: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        // Requests are compact as a rule: the first look mostly ends it.
        if from < end, from.pointee > 0x20 { return from }
        return skipLongSpace(from)
    }

    private func skipLongSpace(_ from: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var cursor = from
        while cursor < end {
            switch cursor.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: cursor += 1
            default: return cursor
            }
        }
        return cursor
    }

    /// From after the opening quote to after the closing one.
    @inline(__always)
    func string(
        _ from: UnsafePointer<UInt8>, escaped: inout Bool
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        var cursor = from
        while end - cursor >= 8 {
            let stops = JSONByteWord(at: cursor).stops
            if stops == 0 {
                cursor += 8
                continue
            }
            cursor += JSONByteWord.bytesBefore(stops)
            if cursor.pointee == UInt8(ascii: "\"") { return cursor + 1 }
            cursor = try special(cursor, escaped: &escaped)
        }
        while cursor < end {
            let byte = cursor.pointee
            if byte == UInt8(ascii: "\"") { return cursor + 1 }
            if byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") {
                cursor += 1
            } else {
                cursor = try special(cursor, escaped: &escaped)
            }
        }
        throw refusal(at: cursor, .stringEnd)
    }

    /// Steps over an escape or over scalars beyond ASCII; refuses control characters.
    private func special(
        _ from: UnsafePointer<UInt8>, escaped: inout Bool
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        if from.pointee == UInt8(ascii: "\\") {
            escaped = true
            return try escape(from)
        }
        if from.pointee < 0x20 {
            throw refusal(at: from, .noControlCharacter)
        }
        var cursor = from
        while cursor < end, cursor.pointee >= 0x80 {
            let length = UTF8Sequence.length(cursor, end)
            if length == 0 { throw refusal(at: cursor, .utf8) }
            cursor += length
        }
        return cursor
    }

    private func escape(_ from: UnsafePointer<UInt8>) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        guard end - from >= 2 else { throw refusal(at: end, .stringEnd) }
        switch from[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return from + 2
        case UInt8(ascii: "u"):
            break
        default:
            throw refusal(at: from, .escape)
        }
        guard let unit = JSONEscape.codeUnit(from + 2, end) else {
            throw refusal(at: from, .hexadecimalDigits)
        }
        if unit & 0xF800 != 0xD800 { return from + 6 }
        guard unit < 0xDC00, end - from >= 12, from[6] == UInt8(ascii: "\\"),
            from[7] == UInt8(ascii: "u"), let low = JSONEscape.codeUnit(from + 8, end),
            low & 0xFC00 == 0xDC00
        else { throw refusal(at: from, .surrogatePair) }
        return from + 12
    }

    /// Steps over a number; `isInteger` says that it has neither fraction nor exponent.
    @inline(__always)
    func number(
        _ from: UnsafePointer<UInt8>, isInteger: inout Bool
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        var cursor = from
        if cursor.pointee == UInt8(ascii: "-") { cursor += 1 }
        if cursor < end, cursor.pointee == UInt8(ascii: "0") {
            cursor += 1
            if cursor < end, isDigit(cursor.pointee) {
                throw refusal(at: cursor, .noLeadingZero)
            }
        } else {
            cursor = try digits(cursor)
        }
        isInteger = true
        if cursor < end, cursor.pointee == UInt8(ascii: ".") {
            isInteger = false
            cursor = try digits(cursor + 1)
        }
        if cursor < end, cursor.pointee | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            cursor += 1
            if cursor < end,
                cursor.pointee == UInt8(ascii: "+") || cursor.pointee == UInt8(ascii: "-")
            {
                cursor += 1
            }
            cursor = try digits(cursor)
        }
        return cursor
    }

    @inline(__always)
    private func digits(_ from: UnsafePointer<UInt8>) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        var cursor = from
        while cursor < end, isDigit(cursor.pointee) { cursor += 1 }
        if cursor == from { throw refusal(at: cursor, .digit) }
        return cursor
    }

    @inline(__always)
    private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Steps over `true`, `false` or `null`.
    func word(
        _ from: UnsafePointer<UInt8>, _ word: StaticString
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        let length = word.utf8CodeUnitCount
        guard end - from >= length,
            word.withUTF8Buffer({
                $0.elementsEqual(UnsafeBufferPointer(start: from, count: length))
            })
        else { throw refusal(at: from, .value) }
        return from + length
    }
}
