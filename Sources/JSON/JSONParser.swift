/// Checks one text against RFC 8259 and fills the tape, in one pass and without recursion.
///
/// Beyond the grammar: UTF-8 without a byte order mark, surrogates only in pairs, no key twice in an
/// object (compared as decoded), containers nested at most `depthMax` deep.
struct JSONParser {
    private let scanner: JSONScanner
    private let depthMax: Int
    private var keys: JSONKeyCheck

    init(text: UnsafeBufferPointer<UInt8>, depthMax: Int, start: UnsafePointer<UInt8>) {
        scanner = JSONScanner(start: start, end: start + text.count)
        keys = JSONKeyCheck(text: text)
        self.depthMax = depthMax
    }

    mutating func parse(into tape: inout JSONTape) throws(JSONError) {
        let start = scanner.start
        guard scanner.end - start <= JSONTape.textBytesMax else {
            throw scanner.error(at: start, "expected at most \(JSONTape.textBytesMax) bytes")
        }
        if scanner.end - start >= 3, start[0] == 0xEF, start[1] == 0xBB, start[2] == 0xBF {
            throw scanner.error(at: start, "expected no byte order mark")
        }
        var open = JSONTape.none
        var depth = 0
        var place = scanner.skipSpace(start)
        repeat {
            place = try value(place, &tape, &open, &depth)
            // After a value: its container goes on with a next one, or ends, and then perhaps the
            // container around it.
            while open != JSONTape.none {
                place = scanner.skipSpace(place)
                guard place < scanner.end else { throw unfinished(open, tape) }
                if place.pointee == UInt8(ascii: ","), tape.members(of: open) > 0 {
                    place = scanner.skipSpace(place + 1)
                    break
                }
                place = try close(place, &tape, &open, &depth)
            }
        } while open != JSONTape.none
        place = scanner.skipSpace(place)
        if place < scanner.end { throw scanner.error(at: place, "expected the end of the text") }
    }

    /// Takes a scalar, or the opening of containers down to the first scalar or empty container; in
    /// an object the key first.
    @inline(__always)
    private func value(
        _ from: UnsafePointer<UInt8>, _ tape: inout JSONTape, _ open: inout Int, _ depth: inout Int
    ) throws(JSONError) -> UnsafePointer<UInt8> {
        var place = from
        while true {
            if open != JSONTape.none {
                if tape.kind(of: open) == .object { place = try key(place, &tape) }
                tape.countOne(of: open)
            }
            guard place < scanner.end else { throw scanner.error(at: place, "expected a value") }
            let first = place.pointee
            guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
                return try scalar(place, first, &tape)
            }
            if depth == depthMax {
                throw scanner.error(at: place, "expected at most \(depthMax) levels")
            }
            depth += 1
            let kind: JSONValue.Kind = first == UInt8(ascii: "{") ? .object : .array
            open = tape.open(kind, offset: place - scanner.start, inside: open)
            place = scanner.skipSpace(place + 1)
            // The closing byte is first + 2 for both kinds of brackets.
            if place < scanner.end, place.pointee == first &+ 2 { return place }
        }
    }

    @inline(__always)
    private func scalar(
        _ place: UnsafePointer<UInt8>, _ first: UInt8, _ tape: inout JSONTape
    ) throws(JSONError) -> UnsafePointer<UInt8> {
        let after: UnsafePointer<UInt8>
        let kind: JSONValue.Kind
        var flag = false
        switch first {
        case UInt8(ascii: "\""):
            kind = .string
            after = try scanner.string(place + 1, escaped: &flag)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            kind = .number
            after = try scanner.number(place, isInteger: &flag)
        case UInt8(ascii: "t"):
            kind = .true
            after = try scanner.word(place, "true")
        case UInt8(ascii: "f"):
            kind = .false
            after = try scanner.word(place, "false")
        case UInt8(ascii: "n"):
            kind = .null
            after = try scanner.word(place, "null")
        default: throw scanner.error(at: place, "expected a value")
        }
        tape.append(
            JSONTape.entry(kind, flag: flag, offset: place - scanner.start, length: after - place))
        return after
    }

    /// Takes a key and the colon.
    @inline(__always)
    private func key(
        _ from: UnsafePointer<UInt8>, _ tape: inout JSONTape
    ) throws(JSONError) -> UnsafePointer<UInt8> {
        guard from < scanner.end, from.pointee == UInt8(ascii: "\"") else {
            throw scanner.error(at: from, "expected a key in quotes")
        }
        var escaped = false
        var place = try scanner.string(from + 1, escaped: &escaped)
        tape.append(
            JSONTape.entry(
                .string, flag: escaped, offset: from - scanner.start, length: place - from))
        place = scanner.skipSpace(place)
        guard place < scanner.end, place.pointee == UInt8(ascii: ":") else {
            throw scanner.error(at: place, "expected ':'")
        }
        return scanner.skipSpace(place + 1)
    }

    /// Closes the innermost container if its bracket stands here.
    @inline(__always)
    private mutating func close(
        _ place: UnsafePointer<UInt8>, _ tape: inout JSONTape, _ open: inout Int,
        _ depth: inout Int
    ) throws(JSONError) -> UnsafePointer<UInt8> {
        let isObject = tape.kind(of: open) == .object
        guard place.pointee == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw scanner.error(at: place, isObject ? "expected ',' or '}'" : "expected ',' or ']'")
        }
        if isObject, tape.members(of: open) > 1, let twice = keys.repeatedKey(of: open, tape) {
            throw scanner.error(at: scanner.start + twice, "expected each key only once")
        }
        open = tape.close(open, endOffset: place + 1 - scanner.start)
        depth -= 1
        return place + 1
    }

    private func unfinished(_ open: Int, _ tape: borrowing JSONTape) -> JSONError {
        let isObject = tape.kind(of: open) == .object
        return scanner.error(
            at: scanner.end, isObject ? "expected ',' or '}'" : "expected ',' or ']'")
    }
}
