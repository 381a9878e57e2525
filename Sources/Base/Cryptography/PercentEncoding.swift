import Platform

/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    /// A text with all octets encoded but those of letters, digits and `-._~` (§2.3).
    package static func encode(
        _ text: some StringProtocol, keepingSlashes: Bool = false
    ) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: encoded.append(byte)
            default: encoded += "%\(Hexadecimal.encode([byte]).uppercased())".utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The octets that are so written.
    ///
    /// - Parameters:
    ///   - plusIsSpace: whether a plus sign is a space, as in forms.
    ///   - isLenient: whether a percent sign that starts no octet stands for itself.
    /// - Returns: nil when there is such a sign, unless it is lenient.
    package static func decode(
        _ encoded: UnsafeRawBufferPointer, plusIsSpace: Bool = false, isLenient: Bool = false
    ) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(encoded.count)
        var at = 0
        while at < encoded.count {
            let byte = encoded[at]
            at += 1
            if byte == UInt8(ascii: "%") {
                if encoded.count - at >= 2, let high = Hexadecimal.value(ofAnyCase: encoded[at]),
                    let low = Hexadecimal.value(ofAnyCase: encoded[at + 1])
                {
                    decoded.append(high << 4 | low)
                    at += 2
                    continue
                }
                guard isLenient else { return nil }
            }
            decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
        return decoded
    }

    /// The text that is so written; nil also when the octets are no UTF-8.
    package static func text(
        _ encoded: ArraySlice<UInt8>, plusIsSpace: Bool = false, isLenient: Bool = false
    ) -> String? {
        // Most texts stand for themselves.
        let isPlain = encoded.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memchr($0, Int32(UInt8(ascii: "%")), bytes.count) == nil }
        }
        if isPlain == true, !plusIsSpace { return String(validating: encoded, as: UTF8.self) }
        return encoded.withUnsafeBytes {
            decode($0, plusIsSpace: plusIsSpace, isLenient: isLenient)
        }.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
