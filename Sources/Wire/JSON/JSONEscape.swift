/// The escapes of JSON strings (RFC 8259 section 7), read.
enum JSONEscape {
    /// The value of four hexadecimal digits; nil when there are not four.
    @inline(__always)
    static func codeUnit(
        _ cursor: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> UInt32? {
        guard end - cursor >= 4 else { return nil }
        var value: UInt32 = 0
        for position in 0..<4 {
            let byte = cursor[position]
            let letter = (byte | 0x20) &- UInt8(ascii: "a")
            if byte &- 0x30 < 10 {
                value = value &<< 4 | UInt32(byte &- 0x30)
            } else if letter < 6 {
                value = value &<< 4 | UInt32(letter &+ 10)
            } else {
                return nil
            }
        }
        return value
    }

    /// Appends what a string's inside means, as UTF-8.
    ///
    /// - Parameter inside: the bytes between the quotes, already checked by the parser.
    static func decode(_ inside: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) {
        guard let start = inside.baseAddress else { return }
        let end = start + inside.count
        bytes.reserveCapacity(bytes.count + inside.count)
        var plain = start
        var cursor = start
        while cursor < end {
            guard cursor.pointee == UInt8(ascii: "\\") else {
                cursor += 1
                continue
            }
            bytes.append(contentsOf: UnsafeBufferPointer(start: plain, count: cursor - plain))
            cursor = append(cursor, end, to: &bytes)
            plain = cursor
        }
        bytes.append(contentsOf: UnsafeBufferPointer(start: plain, count: end - plain))
    }

    private static func append(
        _ from: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, to bytes: inout [UInt8]
    ) -> UnsafePointer<UInt8> {
        switch from[1] {
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var value = codeUnit(from + 2, end) ?? 0xFFFD
            var length = 6
            if value & 0xFC00 == 0xD800, let low = codeUnit(from + 8, end) {
                value = 0x1_0000 + (value & 0x3FF) << 10 + (low & 0x3FF)
                length = 12
            }
            let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
            bytes.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
            return from + length
        case let itself: bytes.append(itself)
        }
        return from + 2
    }
}
