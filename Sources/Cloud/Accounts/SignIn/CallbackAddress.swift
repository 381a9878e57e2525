/// Compares addresses that browsers are sent back to with those that were registered, and extends them.
package enum CallbackAddress {
    private static let loopbacks = ["http://127.0.0.1", "http://[::1]", "http://localhost"]

    /// Whether an address is the registered one; on this machine, with any port (RFC 8252 §7.3).
    static func isSame(_ given: String, as registered: String) -> Bool {
        guard WebAddress.isLegal(given) else { return false }
        if given == registered { return true }
        guard let given = loopback(given), let registered = loopback(registered) else {
            return false
        }
        return given == registered
    }

    /// The host of a loopback address with what comes behind its port; nil for any other address.
    private static func loopback(_ text: String) -> [String]? {
        for host in loopbacks where text.hasPrefix(host) {
            var rest = text.dropFirst(host.count)
            if rest.first == ":" {
                rest = rest.dropFirst()
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                guard let port = Int(digits), (1...65_535).contains(port) else { return nil }
                rest = rest.dropFirst(digits.count)
            }
            guard rest.isEmpty || rest.first == "/" || rest.first == "?" else { return nil }
            return [host, String(rest)]
        }
        return nil
    }

    /// The address with further parameters in its query, before any fragment.
    package static func adding(
        _ parameters: [(name: String, value: String)], to address: String
    ) -> String {
        let parts = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var text = String(parts[0])
        for (name, value) in parameters {
            text += text.contains("?") ? (text.hasSuffix("?") ? "" : "&") : "?"
            text += "\(name)=\(encoded(value))"
        }
        return parts.count > 1 ? "\(text)#\(parts[1])" : text
    }

    /// What a form may be sent on to, for a page's policy: the origin, or the scheme of a program.
    package static func policySource(_ address: String) -> String? {
        guard let scheme = WebAddress.scheme(address) else { return nil }
        guard scheme == "http" || scheme == "https" else { return "\(scheme):" }
        let start = address.utf8.count > scheme.utf8.count + 3 ? scheme.count + 3 : scheme.count
        let authority = address.dropFirst(start).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return WebOrigin.serialized("\(scheme)://\(authority)")
    }

    /// Percent-encodes all but unreserved characters (RFC 3986 §2.3).
    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.count == 1 ? "0\(digits)" : digits)
            }
        }
        return encoded
    }
}
