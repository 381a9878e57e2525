/// What a caller says of the trace that a request belongs to: a `traceparent` (W3C Trace Context).
package struct TraceParent: Sendable, Equatable {
    /// 32 hexadecimal digits.
    package let trace: String
    /// 16 hexadecimal digits.
    package let span: String
    /// Whether the caller keeps the trace; who does not wants no spans of it.
    package let isSampled: Bool

    /// As version 00 writes it, so that it can be passed on.
    package var text: String { "00-\(trace)-\(span)-\(isSampled ? "01" : "00")" }

    /// - Returns: nil for what is none.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].count == 2, parts[1].count == 32, parts[2].count == 16,
            parts[3].count == 2, parts.prefix(4).allSatisfy({ $0.allSatisfy(Self.isDigit) }),
            let version = Self.byte(parts[0]), version != 0xff, let flags = Self.byte(parts[3]),
            version > 0 || parts.count == 4,
            parts[1].contains(where: { $0 != UInt8(ascii: "0") }),
            parts[2].contains(where: { $0 != UInt8(ascii: "0") })
        else { return nil }
        trace = String(decoding: parts[1], as: UTF8.self)
        span = String(decoding: parts[2], as: UTF8.self)
        isSampled = flags & 1 == 1
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }

    private static func byte(_ digits: Substring.UTF8View) -> UInt8? {
        UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
