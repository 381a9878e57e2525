import Cryptography

/// Undoes percent-encoding (RFC 3986 §2.1); a plus sign stays one.
enum PercentEncoding {
    /// The text; nil when a percent sign starts no octet or the octets are no UTF-8.
    static func text(_ encoded: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(encoded.count)
        var rest = encoded
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hexadecimal.value(ofAnyCase:)),
                let low = rest.popFirst().flatMap(Hexadecimal.value(ofAnyCase:))
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
