import Accounts
import Platform

/// What a device calls itself, in `clientId`.
enum DeviceName {
    private static let bytesMax = 255

    /// The name that a request's target gives; nil where there is none.
    static func read(_ query: QueryString) -> String? {
        var name: String?
        withBytes(of: query) { name = String(decoding: $0, as: UTF8.self) }
        return name
    }

    /// Runs the body on the bytes of the name that a request's target gives; not where there is none.
    static func withBytes(of query: QueryString, _ body: (UnsafeRawBufferPointer) -> Void) {
        query.withValue("clientId") { sent in
            guard let start = sent.baseAddress else { return }
            if memchr(start, Int32(UInt8(ascii: "%")), sent.count) == nil {
                // A target has printable characters of ASCII alone.
                if sent.count <= bytesMax { body(sent) }
            } else if var name = query.text("clientId").flatMap(read) {
                name.withUTF8 { body(UnsafeRawBufferPointer($0)) }
            }
        }
    }

    /// The name that a text is; nil for one that no header could hold.
    static func read(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { isName(UnsafeRawBufferPointer($0)) } ? text : nil
    }

    /// Whether bytes are a name: printable characters of ASCII, eight at a time, as every request has one.
    static func isName(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard (1...bytesMax).contains(bytes.count) else { return false }
        var seen: UInt64 = 0
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // The high bit of a byte is set that is above 0x7f, or above 0x7e, or below 0x20.
            seen |= word | (word &+ 0x0101_0101_0101_0101) | (word &- 0x2020_2020_2020_2020)
            offset += 8
        }
        while offset < bytes.count {
            let byte = UInt64(bytes[offset])
            seen |= byte | (byte &+ 1) | (byte &- 0x20)
            offset += 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
