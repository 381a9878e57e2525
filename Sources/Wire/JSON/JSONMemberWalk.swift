import Platform

/// Goes along the members of an object where it lies, without an index over it.
///
/// For text that was checked before: it looks only at what it needs to find the next member, and costs a fraction
/// of a `JSONDocument`. Bytes that are no JSON are harmless; what is found in them may be none either.
package struct JSONMemberWalk {
    /// Where a member is, in bytes from the start of the text.
    package struct Member: Sendable {
        /// The key as it is written, without its quotes.
        package let key: Range<Int>
        package let value: Range<Int>
    }

    private let text: UnsafeBufferPointer<UInt8>
    private let start: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>
    private var cursor: UnsafePointer<UInt8>
    private let known: Range<Int>?
    /// Whether no member has been passed, so that no comma stands before the next.
    private var isAtStart = true

    /// Begins with the first member of the object at a place.
    ///
    /// - Parameter known: where one of the values is, which then need not be gone through.
    /// - Throws: `JSONError` where no object begins.
    package init(
        _ text: UnsafeRawBufferPointer, objectAt cursor: Int = 0, knowing known: Range<Int>? = nil
    ) throws(JSONError) {
        let text = text.assumingMemoryBound(to: UInt8.self)
        guard let start = text.baseAddress, (0..<text.count).contains(cursor),
            text[cursor] == UInt8(ascii: "{"), known?.upperBound ?? 0 <= text.count
        else { throw JSONError(at: cursor, in: text, reason: "expected an object") }
        self.text = text
        self.start = start
        self.cursor = start + cursor + 1
        end = start + text.count
        self.known = known
    }

    /// The next member; nil after the last.
    ///
    /// - Throws: `JSONError` where neither a member nor the end of the object is.
    package mutating func next() throws(JSONError) -> Member? {
        skipSpace()
        if cursor < end, cursor.pointee == UInt8(ascii: "}") { return nil }
        if !isAtStart { try take(UInt8(ascii: ","), "expected ',' or '}'") }
        isAtStart = false
        skipSpace()
        let keyStart = cursor - start + 1
        try skipString()
        let keyEnd = cursor - start - 1
        skipSpace()
        try take(UInt8(ascii: ":"), "expected ':'")
        skipSpace()
        let valueStart = cursor - start
        if let known, known.lowerBound == valueStart {
            cursor = start + known.upperBound
        } else {
            try skipValue()
        }
        return Member(key: keyStart..<keyEnd, value: valueStart..<cursor - start)
    }

    /// The value of a member that has not been passed; nil when there is none.
    ///
    /// - Throws: as `next`.
    package mutating func value(of key: StaticString) throws(JSONError) -> Range<Int>? {
        while let member = try next() {
            if holds(member, key) { return member.value }
        }
        return nil
    }

    /// Whether a member has a key, which needs no escapes.
    package func holds(_ member: Member, _ key: StaticString) -> Bool {
        key.withUTF8Buffer { holds($0, at: member.key) }
    }

    /// Whether a value is a string that needs no escapes.
    package func isString(_ string: StaticString, at value: Range<Int>) -> Bool {
        guard value.count >= 2, text[value.lowerBound] == UInt8(ascii: "\"") else { return false }
        return string.withUTF8Buffer { holds($0, at: value.lowerBound + 1..<value.upperBound - 1) }
    }

    private func holds(_ words: UnsafeBufferPointer<UInt8>, at cursor: Range<Int>) -> Bool {
        guard cursor.count == words.count, let first = words.baseAddress else { return false }
        return memcmp(start + cursor.lowerBound, first, words.count) == 0
    }

    // MARK: - Passing

    private func error(_ reason: String) -> JSONError {
        JSONError(at: cursor - start, in: text, reason: reason)
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8, _ reason: StaticString) throws(JSONError) {
        guard cursor < end, cursor.pointee == byte else { throw error("\(reason)") }
        cursor += 1
    }

    @inline(__always)
    private mutating func skipSpace() {
        while cursor < end, cursor.pointee <= 0x20 { cursor += 1 }
    }

    @inline(__always)
    private mutating func skipString() throws(JSONError) {
        try take(UInt8(ascii: "\""), "expected a string")
        while true {
            if end - cursor >= 8 {
                let marks = JSONByteWord(at: cursor).escapes
                cursor += JSONByteWord.bytesBefore(marks)
                if marks == 0 { continue }
            }
            guard cursor < end else { throw error("expected the end of the string") }
            switch cursor.pointee {
            case UInt8(ascii: "\""):
                cursor += 1
                return
            case UInt8(ascii: "\\") where end - cursor >= 2: cursor += 2
            default: cursor += 1
            }
        }
    }

    @inline(__always)
    private mutating func skipValue() throws(JSONError) {
        guard cursor < end else { throw error("expected a value") }
        switch cursor.pointee {
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer()
        default:
            let first = cursor
            while cursor < end, !Self.ends(cursor.pointee) { cursor += 1 }
            if cursor == first { throw error("expected a value") }
        }
    }

    private mutating func skipContainer() throws(JSONError) {
        var depth = 0
        repeat {
            guard cursor < end else { throw error("expected the end of the container") }
            switch cursor.pointee {
            case UInt8(ascii: "\""):
                try skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            cursor += 1
        } while depth > 0
    }

    /// Whether a byte is behind a number or a word.
    private static func ends(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}")
            || byte == UInt8(ascii: "]")
    }
}
