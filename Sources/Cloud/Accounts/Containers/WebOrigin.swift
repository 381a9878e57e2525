/// Where a web page comes from, in the form that browsers send (RFC 6454 §6.2): scheme, host, port.
package enum WebOrigin {
    /// A longer text is not an origin: a host has at most 253 characters.
    private static let bytesMax = 512

    /// The one spelling of the origin: lower-case, without the scheme's own port.
    ///
    /// Nil for anything but `scheme://host` with an optional port: no path, no query, no user name,
    /// no wildcard, and no opaque origin (`null`).
    package static func serialized(_ text: String) -> String? {
        guard text.utf8.count <= bytesMax else { return nil }
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            isScheme(bytes[..<colon]), bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let authority = bytes[(colon + 3)...]
        guard let hostEnd = endOfHost(authority) else { return nil }
        let host = String(decoding: authority[..<hostEnd], as: UTF8.self).lowercased()
        let rest = authority[hostEnd...]
        guard let mark = rest.first else { return "\(scheme)://\(host)" }
        guard mark == UInt8(ascii: ":"), let port = port(rest.dropFirst()) else { return nil }
        let isOwn = scheme == "https" && port == 443 || scheme == "http" && port == 80
        return isOwn ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy { byte in
            isLetter(byte) || isDigit(byte) || "+-.".utf8.contains(byte)
        }
    }

    /// The index behind the host name or the address in brackets; nil when it is neither.
    private static func endOfHost(_ bytes: ArraySlice<UInt8>) -> Int? {
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let address = bytes[(bytes.startIndex + 1)..<close]
            let isAddress = address.allSatisfy { byte in
                isDigit(byte) || "abcdefABCDEF:.".utf8.contains(byte)
            }
            return isAddress && address.count >= 2 ? close + 1 : nil
        }
        let end =
            bytes.firstIndex { byte in
                !(isLetter(byte) || isDigit(byte) || "-._".utf8.contains(byte))
            } ?? bytes.endIndex
        return end > bytes.startIndex && end - bytes.startIndex <= 253 ? end : nil
    }

    private static func port(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...5).contains(digits.count), digits.allSatisfy(isDigit),
            let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port)
        else { return nil }
        return port
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
