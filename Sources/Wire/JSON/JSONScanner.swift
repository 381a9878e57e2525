/// Steps over one token at a time and checks it; the grammar between tokens is the parser's.
///
/// Every function takes the place where its token starts and returns the place after it.
struct JSONScanner {
    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>

    @inline(__always)
    func refusal(
        at place: UnsafePointer<UInt8>, _ expectation: JSONRefusal.Expectation
    ) -> JSONRefusal {
        JSONRefusal(offset: place - start, expectation: expectation)
    }

    @inline(__always)
    func skipSpace(_ from: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        // Requests are compact as a rule: the first look mostly ends it.
        if from < end, from.pointee > 0x20 { return from }
        return skipLongSpace(from)
    }

    private func skipLongSpace(_ from: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var place = from
        while place < end {
            switch place.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: place += 1
            default: return place
            }
        }
        return place
    }

    /// From after the opening quote to after the closing one.
    @inline(__always)
    func string(
        _ from: UnsafePointer<UInt8>, escaped: inout Bool
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        var place = from
        while end - place >= 8 {
            let stops = JSONByteWord(at: place).stops
            if stops == 0 {
                place += 8
                continue
            }
            place += JSONByteWord.bytesBefore(stops)
            if place.pointee == UInt8(ascii: "\"") { return place + 1 }
            place = try special(place, escaped: &escaped)
        }
        while place < end {
            let byte = place.pointee
            if byte == UInt8(ascii: "\"") { return place + 1 }
            if byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") {
                place += 1
            } else {
                place = try special(place, escaped: &escaped)
            }
        }
        throw refusal(at: place, .stringEnd)
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
        var place = from
        while place < end, place.pointee >= 0x80 {
            let length = UTF8Sequence.length(place, end)
            if length == 0 { throw refusal(at: place, .utf8) }
            place += length
        }
        return place
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
        var place = from
        if place.pointee == UInt8(ascii: "-") { place += 1 }
        if place < end, place.pointee == UInt8(ascii: "0") {
            place += 1
            if place < end, isDigit(place.pointee) {
                throw refusal(at: place, .noLeadingZero)
            }
        } else {
            place = try digits(place)
        }
        isInteger = true
        if place < end, place.pointee == UInt8(ascii: ".") {
            isInteger = false
            place = try digits(place + 1)
        }
        if place < end, place.pointee | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            place += 1
            if place < end, place.pointee == UInt8(ascii: "+") || place.pointee == UInt8(ascii: "-")
            {
                place += 1
            }
            place = try digits(place)
        }
        return place
    }

    @inline(__always)
    private func digits(_ from: UnsafePointer<UInt8>) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        var place = from
        while place < end, isDigit(place.pointee) { place += 1 }
        if place == from { throw refusal(at: place, .digit) }
        return place
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
