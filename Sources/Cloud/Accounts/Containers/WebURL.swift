/// An absolute URL, read strictly: `scheme://`, perhaps `user@`, a host, perhaps a port, and the rest.
package struct WebURL: Sendable {
    /// In lower case.
    package let scheme: String
    /// Whether a user's name stands before the host; what follows it alone says where the URL leads.
    package let hasUser: Bool
    /// As written: a name, or an address, an IPv6 address in its brackets.
    package let host: String
    /// 0 where the system chooses one.
    package let port: Int?
    /// Path, query and fragment, as written.
    package let rest: String

    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            Self.isScheme(bytes[..<colon]), bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let start = colon + 3
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        let user = bytes[start..<end].lastIndex(of: UInt8(ascii: "@"))
        let authority = bytes[(user.map { $0 + 1 } ?? start)..<end]
        guard let hostEnd = Self.endOfHost(authority) else { return nil }
        if hostEnd == end {
            port = nil
        } else {
            guard bytes[hostEnd] == UInt8(ascii: ":"), let port = Self.port(authority[hostEnd...])
            else { return nil }
            self.port = port
        }
        scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        hasUser = user != nil
        host = String(decoding: authority[..<hostEnd], as: UTF8.self)
        rest = String(decoding: bytes[end...], as: UTF8.self)
    }

    package var isHTTP: Bool { scheme == "http" || scheme == "https" }

    /// The host, with the port where one is named.
    package var site: String { port.map { "\(host):\($0)" } ?? host }

    /// The one spelling of where it leads: in lower case, without the scheme's own port.
    package var origin: String {
        let isOwn = scheme == "https" && port == 443 || scheme == "http" && port == 80
        return "\(scheme)://\((isOwn ? host : site).lowercased())"
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

    /// - Parameter text: with the colon before it.
    private static func port(_ text: ArraySlice<UInt8>) -> Int? {
        let digits = text.dropFirst()
        guard (1...5).contains(digits.count), digits.allSatisfy(isDigit),
            let port = Int(String(decoding: digits, as: UTF8.self)), port <= 65_535
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
