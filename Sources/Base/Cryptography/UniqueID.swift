/// Names that are never given twice.
package enum UniqueID {
    /// A version 4 UUID (RFC 9562 §5.4) in lower case.
    package static func random(_ source: RandomSource) -> String {
        var bytes = source.bytes(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        return text(bytes)
    }

    /// A version 8 UUID (RFC 9562 §5.8) in lower case: the same for the same bytes.
    ///
    /// - Parameter bytes: at least 16, spread evenly, such as a code's.
    package static func made(from bytes: [UInt8]) -> String {
        var bytes = Array(bytes.prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x80
        return text(bytes)
    }

    private static func text(_ bytes: [UInt8]) -> String {
        var bytes = bytes
        bytes[8] = bytes[8] & 0x3f | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += Hexadecimal.encode([byte])
        }
        return text
    }
}
