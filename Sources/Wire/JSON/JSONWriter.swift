/// Appends compact JSON to a buffer of bytes.
///
/// It writes what it is told: commas, brackets and their balance are the caller's.
package struct JSONWriter: Sendable {
    /// What has been written so far.
    package var bytes: [UInt8]

    /// - Parameter capacity: bytes to make room for at once.
    package init(reserving capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Appends text that is JSON already.
    package mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes that are JSON already.
    package mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        self.bytes.append(contentsOf: bytes)
    }

    /// Appends bytes that are JSON already.
    package mutating func raw(_ bytes: [UInt8]) {
        self.bytes.append(contentsOf: bytes)
    }

    /// Appends a value as it was received, without the white space between its tokens.
    package mutating func compact(_ value: JSONValue) {
        value.withRawBytes { text in
            var isInString = false
            var isEscaped = false
            for byte in text {
                if isInString {
                    isInString = isEscaped || byte != UInt8(ascii: "\"")
                    isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                } else if byte <= 0x20 {
                    continue
                } else {
                    isInString = byte == UInt8(ascii: "\"")
                }
                bytes.append(byte)
            }
        }
    }

    /// Appends one byte, such as a bracket.
    package mutating func byte(_ byte: UInt8) {
        bytes.append(byte)
    }

    /// Appends a string in quotes, with `"`, `\` and control characters escaped.
    package mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Appends a string in quotes, given as valid UTF-8, escaped as by `string(_:)`.
    package mutating func string(utf8: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        let text = utf8.bindMemory(to: UInt8.self)
        if let start = text.baseAddress { escape(start, start + text.count) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends the string that a value is, escaped as by `string(_:)`; nothing for any other kind.
    package mutating func string(_ value: JSONValue) {
        guard value.isPlainString else {
            value.withStringBytes { string(utf8: $0) }
            return
        }
        // What came without escapes needs none.
        value.withRawBytes { raw($0) }
    }

    private mutating func escape(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) {
        var plain = start
        var cursor = start
        while cursor < end {
            if end - cursor >= 8 {
                let marks = JSONByteWord(at: cursor).escapes
                if marks == 0 {
                    cursor += 8
                    continue
                }
                cursor += JSONByteWord.bytesBefore(marks)
            } else if cursor.pointee >= 0x20, cursor.pointee != UInt8(ascii: "\""),
                cursor.pointee != UInt8(ascii: "\\")
            {
                cursor += 1
                continue
            }
            bytes.append(contentsOf: UnsafeBufferPointer(start: plain, count: cursor - plain))
            escape(cursor.pointee)
            cursor += 1
            plain = cursor
        }
        bytes.append(contentsOf: UnsafeBufferPointer(start: plain, count: end - plain))
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            let low = byte & 0x0F
            raw("u00")
            bytes.append(UInt8(ascii: "0") + byte >> 4)
            bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        default: bytes.append(byte)
        }
    }

    /// Appends the comma between two members or elements: none before the first.
    package mutating func separate(_ isFirst: inout Bool) {
        if !isFirst { raw(",") }
        isFirst = false
    }

    /// Appends a further member of an object, with the comma before it.
    package mutating func member(_ name: StaticString, _ text: String) {
        begin(name)
        string(text)
    }

    /// Appends a further member of an object, with the comma before it.
    package mutating func member(_ name: StaticString, _ number: some BinaryInteger) {
        begin(name)
        integer(Int64(number))
    }

    private mutating func begin(_ name: StaticString) {
        raw(",\"")
        raw(name)
        raw("\":")
    }

    /// Appends an integer.
    package mutating func integer(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        if rest < 10 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest))
            return
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var first = 20
            while rest > 0 {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                first -= 1
                digits.initializeElement(
                    at: first, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
                rest = quotient
            }
            bytes.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[first...]))
        }
    }

    /// Appends a double in the shortest form that reads back as the same, with a fraction or an
    /// exponent always: `3.0`, `-0.0`, `1e+20`; `null` for infinity and not-a-number, of which JSON has no form.
    package mutating func double(_ value: Double) {
        bytes.append(contentsOf: value.isFinite ? value.description.utf8 : "null".utf8)
    }
}
