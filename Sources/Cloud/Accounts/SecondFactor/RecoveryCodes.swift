import Cryptography

/// Codes for people who have lost their second factor; each works once.
///
/// Only their digests are kept. A code has 80 random bits, so that a digest tells nothing of it. They
/// are shown once, when they are made; making new ones ends the old ones.
package enum RecoveryCodes {
    package static let count = 10

    private static let codeBytes = 10
    /// RFC 4648's letters and digits, of which none is mistaken for another.
    private static let groupCharacters = 4

    /// New codes: as they are shown, such as `k3vq-7mzn-a2xw-5tdp`, and their digests.
    ///
    /// - Parameter owner: the account's id, so that digests of one account fit no other.
    package static func make(
        owner: String, random: RandomSource
    ) -> (shown: [String], digests: [[UInt8]]) {
        let codes = (0..<count).map { _ in
            Array(Base32.encode(random.bytes(codeBytes)).lowercased().utf8)
        }
        let shown = codes.map { code in
            stride(from: 0, to: code.count, by: groupCharacters).map {
                String(
                    decoding: code[$0..<min($0 + groupCharacters, code.count)], as: UTF8.self)
            }.joined(separator: "-")
        }
        return (shown, codes.map { digest($0, owner: owner) })
    }

    /// The digests that are left when a code is used; nil when it is not one of them.
    ///
    /// The caller that accepts a code stores the remaining ones in the same transaction. Capitals,
    /// spaces and hyphens do not matter, and `0`, `1` and `8`, which no code has, stand for `o`, `l`
    /// and `b`.
    package static func use(
        _ text: String, of digests: [[UInt8]], owner: String
    ) -> [[UInt8]]? {
        // A longer text is not a code.
        guard text.utf8.count <= 64 else { return nil }
        let typed = digest(normalized(text), owner: owner)
        var rest = digests
        var found: Int?
        for (index, kept) in digests.enumerated() where ConstantTime.areEqual(kept, typed) {
            found = index
        }
        guard let found else { return nil }
        rest.remove(at: found)
        return rest
    }

    private static func normalized(_ text: String) -> [UInt8] {
        text.utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "-"): nil
            case UInt8(ascii: "0"): UInt8(ascii: "o")
            case UInt8(ascii: "1"): UInt8(ascii: "l")
            case UInt8(ascii: "8"): UInt8(ascii: "b")
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            default: byte
            }
        }
    }

    private static func digest(_ code: [UInt8], owner: String) -> [UInt8] {
        SHA256.digest(Array("recovery code\u{0}\(owner)\u{0}".utf8) + code)
    }
}
