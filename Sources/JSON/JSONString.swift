/// Reading strings.
extension JSONValue {
    /// The decoded string; nil for any other kind.
    package var string: String? {
        withStringBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Passes on the decoded string as UTF-8, without a copy when it has no escapes.
    ///
    /// - Returns: what the body returns; nil when this is no string.
    package func withStringBytes<R>(
        _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R? {
        guard kind == .string else { return nil }
        if document.tape.flag(of: index) {
            return try document.decodedString(at: index).withUnsafeBytes(body)
        }
        let inside = document.tape.inside(of: index)
        return try document.bytes.withUnsafeBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes[inside]))
        }
    }

    /// Whether this is the string given.
    package func stringEquals(_ text: StaticString) -> Bool {
        kind == .string && text.withUTF8Buffer { document.string(at: index, equals: $0) }
    }
}

extension JSONDocument {
    /// Whether the string at an index says the text given.
    @inline(__always)
    func string(at index: Int, equals text: UnsafeBufferPointer<UInt8>) -> Bool {
        if tape.flag(of: index) { return decodedString(at: index).elementsEqual(text) }
        guard tape.length(of: index) == text.count + 2 else { return false }
        let start = tape.offset(of: index) + 1
        return bytes.withUnsafeBufferPointer { bytes in
            for position in 0..<text.count where bytes[start + position] != text[position] {
                return false
            }
            return true
        }
    }

    func decodedString(at index: Int) -> [UInt8] {
        var decoded: [UInt8] = []
        bytes.withUnsafeBufferPointer { bytes in
            JSONEscape.decode(
                UnsafeBufferPointer(rebasing: bytes[tape.inside(of: index)]), into: &decoded)
        }
        return decoded
    }
}
