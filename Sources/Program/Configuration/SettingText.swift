/// The forms that texts of settings may have to have.
enum SettingText {
    /// Whether a text can be a path: not empty, no zero byte.
    static func isPath(_ text: String) -> Bool { !text.isEmpty && !text.utf8.contains(0) }

    /// Whether a text has neither control characters nor such as change how others are shown.
    static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }

    /// Whether a text is `http://` or `https://` with a host and perhaps a port, and nothing else.
    static func isOrigin(_ text: String) -> Bool {
        for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
            let authority = text.dropFirst(scheme.count)
            if ListenText.isHost(authority) { return true }
            guard let colon = authority.lastIndex(of: ":") else { return false }
            return ListenText.isHost(authority[..<colon])
                && ListenText.isPort(authority[authority.index(after: colon)...])
        }
        return false
    }
}

/// The text form of an address to listen on.
enum ListenText {
    /// Whether a text is `HOST:PORT`, `[IPV6]:PORT` or `unix:PATH`.
    static func isLegal(_ text: String) -> Bool {
        if text.hasPrefix("unix:") { return SettingText.isPath(String(text.dropFirst(5))) }
        guard let colon = text.lastIndex(of: ":") else { return false }
        return isHost(text[..<colon]) && isPort(text[text.index(after: colon)...])
    }

    /// Whether a text is a host's name, an IPv4 address, or an IPv6 address in brackets.
    static func isHost(_ text: Substring) -> Bool {
        if text.hasPrefix("["), text.hasSuffix("]") {
            return AddressRange(String(text.dropFirst().dropLast()))?.bits == 128
        }
        return !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { 0x30...0x39 ~= $0 } && UInt16(text) != nil
    }
}
