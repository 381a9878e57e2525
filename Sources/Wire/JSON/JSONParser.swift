/// Checks one text against RFC 8259 and fills the tape, in one pass and without recursion.
///
/// Beyond the grammar it asks for UTF-8 without a byte order mark, and for surrogates in pairs. No object
/// has a key twice (compared as decoded). Containers are nested at most `depthMax` deep.
struct JSONParser {
    private let scanner: JSONScanner
    private let depthMax: Int
    private let keys: JSONKeyCheck

    init(text: UnsafeBufferPointer<UInt8>, depthMax: Int, start: UnsafePointer<UInt8>) {
        scanner = JSONScanner(start: start, end: start + text.count)
        keys = JSONKeyCheck(text: text)
        self.depthMax = depthMax
    }

    func parse(into tape: inout JSONTape) throws(JSONRefusal) {
        let start = scanner.start
        guard scanner.end - start <= JSONTape.textBytesMax else {
            throw scanner.refusal(at: start, .fewerBytes)
        }
        if scanner.end - start >= 3, start[0] == 0xEF, start[1] == 0xBB, start[2] == 0xBF {
            throw scanner.refusal(at: start, .noByteOrderMark)
        }
        var inner = Innermost()
        var cursor = scanner.skipSpace(start)
        repeat {
            cursor = try value(cursor, &tape, &inner)
            // After a value: its container goes on with a next one, or ends, and then perhaps the
            // container around it.
            while inner.depth > 0 {
                cursor = scanner.skipSpace(cursor)
                if cursor < scanner.end, cursor.pointee == UInt8(ascii: ",") {
                    cursor = scanner.skipSpace(cursor + 1)
                    break
                }
                cursor = try close(cursor, &tape, &inner)
            }
        } while inner.depth > 0
        cursor = scanner.skipSpace(cursor)
        if cursor < scanner.end { throw scanner.refusal(at: cursor, .end) }
    }

    /// The innermost container that is open.
    private struct Innermost {
        var index = JSONTape.none
        var isObject = false
        var members = 0
        var depth = 0
    }

    /// Takes a scalar or an empty container, and before it the openings of the containers that it is
    /// the first in; in an object the key first.
    @inline(__always)
    private func value(
        _ from: UnsafePointer<UInt8>, _ tape: inout JSONTape, _ inner: inout Innermost
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        var cursor = from
        while true {
            if inner.isObject { cursor = try key(cursor, &tape) }
            inner.members &+= 1
            guard cursor < scanner.end else { throw scanner.refusal(at: cursor, .value) }
            let first = cursor.pointee
            if first == UInt8(ascii: "\"") { return try string(cursor, &tape) }
            guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
                return try scalar(cursor, first, &tape)
            }
            if inner.depth == depthMax { throw scanner.refusal(at: cursor, .fewerLevels) }
            let isObject = first == UInt8(ascii: "{")
            let index = tape.open(
                isObject ? .object : .array, offset: cursor - scanner.start, inside: inner.index)
            cursor = scanner.skipSpace(cursor + 1)
            // The closing byte is first + 2 for both kinds of brackets.
            if cursor < scanner.end, cursor.pointee == first &+ 2 {
                _ = tape.close(index, members: 0, endOffset: cursor + 1 - scanner.start)
                return cursor + 1
            }
            if inner.depth > 0 { tape.note(members: inner.members, of: inner.index) }
            inner = Innermost(
                index: index, isObject: isObject, members: 0, depth: inner.depth &+ 1)
        }
    }

    @inline(__always)
    private func string(
        _ from: UnsafePointer<UInt8>, _ tape: inout JSONTape
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        var escaped = false
        let after = try scanner.string(from + 1, escaped: &escaped)
        tape.append(
            JSONTape.entry(
                .string, flag: escaped, offset: from - scanner.start, length: after - from))
        return after
    }

    @inline(__always)
    private func scalar(
        _ cursor: UnsafePointer<UInt8>, _ first: UInt8, _ tape: inout JSONTape
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        let after: UnsafePointer<UInt8>
        let kind: JSONValue.Kind
        var flag = false
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            kind = .number
            after = try scanner.number(cursor, isInteger: &flag)
        case UInt8(ascii: "t"):
            kind = .true
            after = try scanner.word(cursor, "true")
        case UInt8(ascii: "f"):
            kind = .false
            after = try scanner.word(cursor, "false")
        case UInt8(ascii: "n"):
            kind = .null
            after = try scanner.word(cursor, "null")
        default: throw scanner.refusal(at: cursor, .value)
        }
        tape.append(
            JSONTape.entry(kind, flag: flag, offset: cursor - scanner.start, length: after - cursor)
        )
        return after
    }

    /// Takes a key and the colon.
    @inline(__always)
    private func key(
        _ from: UnsafePointer<UInt8>, _ tape: inout JSONTape
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        guard from < scanner.end, from.pointee == UInt8(ascii: "\"") else {
            throw scanner.refusal(at: from, .key)
        }
        let cursor = scanner.skipSpace(try string(from, &tape))
        guard cursor < scanner.end, cursor.pointee == UInt8(ascii: ":") else {
            throw scanner.refusal(at: cursor, .colon)
        }
        return scanner.skipSpace(cursor + 1)
    }

    /// Closes the innermost container if its bracket stands here.
    @inline(__always)
    private func close(
        _ cursor: UnsafePointer<UInt8>, _ tape: inout JSONTape, _ inner: inout Innermost
    ) throws(JSONRefusal) -> UnsafePointer<UInt8> {
        let bracket = inner.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        guard cursor < scanner.end, cursor.pointee == bracket else {
            throw scanner.refusal(at: cursor, inner.isObject ? .commaOrBrace : .commaOrBracket)
        }
        if inner.isObject,
            let twice = keys.repeatedKey(of: inner.index, members: inner.members, tape)
        {
            throw scanner.refusal(at: scanner.start + twice, .keyOnce)
        }
        inner.index = tape.close(
            inner.index, members: inner.members, endOffset: cursor + 1 - scanner.start)
        inner.depth &-= 1
        if inner.depth > 0 {
            inner.isObject = tape.isObject(inner.index)
            inner.members = tape.members(of: inner.index)
        }
        return cursor + 1
    }
}
