/// Checks the addresses that operators give and that browsers are sent to.
enum WebAddress {
    private static let bytesMax = 2_048

    /// Whether the text is a scheme and something behind it, in visible ASCII, and runs no script.
    static func isLegal(_ text: String) -> Bool {
        guard text.utf8.count <= bytesMax,
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !"\"<>\\^`{|}".utf8.contains($0) }
            ),
            let scheme = scheme(text), text.utf8.count > scheme.utf8.count + 1
        else { return false }
        return !["javascript", "data", "vbscript", "file", "blob", "about"].contains(scheme)
    }

    /// The scheme in lower case; nil when the text has none.
    static func scheme(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20)
        else { return nil }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let legal = "abcdefghijklmnopqrstuvwxyz0123456789+-.".utf8
        return scheme.utf8.allSatisfy { legal.contains($0) } ? scheme : nil
    }
}
