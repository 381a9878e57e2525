/// The text form of keys (RFC 7468), read strictly: one block, one label, nothing else around it.
enum PEM {
    struct Block {
        let label: String
        let bytes: [UInt8]
    }

    /// The text's only block; nil when the text is anything else.
    static func decode(_ text: String) -> Block? {
        // On bytes, because a carriage return and a line feed are one character to Swift.
        var lines = Array(text.utf8)
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard lines.count >= 3, let first = lines.first, let last = lines.last else { return nil }
        let opening = String(decoding: first, as: UTF8.self)
        guard opening.hasPrefix("-----BEGIN "), opening.hasSuffix("-----"), opening.count > 16
        else { return nil }
        let label = String(opening.dropFirst(11).dropLast(5))
        guard String(decoding: last, as: UTF8.self) == "-----END \(label)-----",
            let bytes = Base64.decode(Array(lines.dropFirst().dropLast().joined()))
        else { return nil }
        return Block(label: label, bytes: bytes)
    }

    /// The block for these bytes, in lines of 64 characters.
    static func encode(_ bytes: [UInt8], label: String) -> String {
        var text = "-----BEGIN \(label)-----\n"
        var rest = Substring(Base64.encode(bytes))
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END \(label)-----\n"
    }
}
