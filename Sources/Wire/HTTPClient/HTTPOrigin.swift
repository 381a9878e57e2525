/// A server that requests go to: how it is spoken to, and where.
package struct HTTPOrigin: Sendable, Equatable {
    package let isSecure: Bool
    /// A name or an address, an IPv6 address without its brackets.
    package let host: String
    package let port: UInt16

    package init(isSecure: Bool, host: String, port: UInt16) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// Whether the host is an address instead of a name, in any form in which systems read addresses.
    package var isNumeric: Bool {
        guard !host.contains(":") else { return true }
        let last = host.split(separator: ".").last ?? ""
        let digits = last.lowercased().hasPrefix("0x") ? last.dropFirst(2) : last
        return digits.utf8.allSatisfy { 0x30...0x39 ~= $0 }
            || last.count != digits.count && digits.allSatisfy { $0.isHexDigit }
    }

    /// Reads `http://` or `https://`, a host, and perhaps a port; nil for anything else.
    package init?(_ text: String) {
        let rest: Substring
        if text.hasPrefix("https://") {
            isSecure = true
            rest = text.dropFirst(8)
        } else if text.hasPrefix("http://") {
            isSecure = false
            rest = text.dropFirst(7)
        } else {
            return nil
        }
        var host = rest
        var port: UInt16 = isSecure ? 443 : 80
        if let colon = rest.lastIndex(of: ":"), rest.last != "]" {
            let digits = rest[rest.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits)
            else { return nil }
            port = number
            host = rest[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        let isPlain = host.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5F: true
            default: false
            }
        }
        guard !host.isEmpty, isPlain else { return nil }
        self.host = String(host)
        self.port = port
    }

    /// The `Host` field: without the port where it is the scheme's own.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The beginning of every URL there.
    package var text: String { (isSecure ? "https://" : "http://") + authority }

    /// The same with a label before the host.
    package func adding(label: String) -> HTTPOrigin {
        HTTPOrigin(isSecure: isSecure, host: "\(label).\(host)", port: port)
    }
}
