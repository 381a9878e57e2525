/// The short identifier of a share's root, which links carry: 25 URL-safe characters.
package struct ShortGUID: Hashable, Sendable {
    package let text: String

    package static let characterCount = 25

    /// - Returns: nil for text that no short identifier has.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.count == ShortGUID.characterCount,
            bytes.allSatisfy({ ShortGUID.alphabet.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Makes one from 22 random bytes: 132 bits that nobody can guess.
    ///
    /// The first three choose nothing on one server; clients treat them as a routing key.
    package init(random bytes: [UInt8]) {
        let random = bytes.prefix(ShortGUID.characterCount - ShortGUID.routingKey.utf8.count)
            .map { ShortGUID.alphabet[Int($0 & 63)] }
        text = ShortGUID.routingKey + String(decoding: random, as: UTF8.self)
    }

    private static let routingKey = "0L0"
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
