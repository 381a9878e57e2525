import Platform

/// Reading strings.
extension JSONValue {
    /// The decoded string; nil for any other kind.
    package var string: String? {
        withStringBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Passes on the decoded string as UTF-8, without a copy when it has no escapes.
    ///
    /// - Returns: what the body returns; nil when this is no string.
    @inlinable
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

    /// Whether this is a string without escapes.
    @inline(__always)
    var isPlainString: Bool { kind == .string && !document.tape.flag(of: index) }

    /// Whether this is the string given.
    package func stringEquals(_ text: StaticString) -> Bool {
        guard kind == .string else { return false }
        return document.bytes.withUnsafeBufferPointer { bytes in
            text.withUTF8Buffer { document.tape.string(at: index, of: bytes, equals: $0) }
        }
    }
}

extension JSONTape {
    /// Whether the string at an index says the words given.
    @inline(__always)
    func string(
        at index: Int, of text: UnsafeBufferPointer<UInt8>, equals words: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        if flag(of: index) { return decodedString(at: index, of: text).elementsEqual(words) }
        guard length(of: index) == words.count &+ 2 else { return false }
        guard let start = text.baseAddress, let first = words.baseAddress else {
            return words.isEmpty
        }
        return memcmp(start + offset(of: index) + 1, first, words.count) == 0
    }

    /// As the above, for words that are written in the source.
    @inline(__always)
    func string(
        at index: Int, of text: UnsafeBufferPointer<UInt8>, equals words: StaticString
    ) -> Bool {
        words.withUTF8Buffer { string(at: index, of: text, equals: $0) }
    }

    func decodedString(at index: Int, of text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        JSONEscape.decode(UnsafeBufferPointer(rebasing: text[inside(of: index)]), into: &decoded)
        return decoded
    }
}

extension JSONDocument {
    @usableFromInline
    func decodedString(at index: Int) -> [UInt8] {
        bytes.withUnsafeBufferPointer { tape.decodedString(at: index, of: $0) }
    }
}
