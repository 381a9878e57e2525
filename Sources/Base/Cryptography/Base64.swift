/// Base64 (RFC 4648), with exactly one text for any bytes.
///
/// The decoder takes only what the encoder writes: no line breaks, no missing or extra padding, no
/// bits behind the last byte, so that one value cannot come in two spellings.
package enum Base64 {
    package enum Alphabet: Sendable {
        /// RFC 4648 §4: with `+` and `/`, padded with `=`.
        case standard
        /// RFC 4648 §5: with `-` and `_`, without padding.
        case urlSafe
    }

    /// How many characters that many bytes take in the standard alphabet.
    package static func encodedBytes(for count: Int) -> Int { (count + 2) / 3 * 4 }

    /// The text of the bytes.
    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(encodedBytes(for: bytes.count))
        bytes.withUnsafeBytes { append($0, to: &text, alphabet) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of the bytes, for callers that are building a message.
    package static func append(
        _ bytes: UnsafeRawBufferPointer, to text: inout [UInt8], _ alphabet: Alphabet = .standard
    ) {
        let digits = alphabet == .standard ? standardDigits : urlSafeDigits
        var at = 0
        while bytes.count - at >= 3 {
            let group =
                UInt32(bytes[at]) << 16 | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2])
            text.append(digits[Int(group >> 18)])
            text.append(digits[Int(group >> 12 & 63)])
            text.append(digits[Int(group >> 6 & 63)])
            text.append(digits[Int(group & 63)])
            at += 3
        }
        let rest = bytes.count - at
        guard rest > 0 else { return }
        let group = UInt32(bytes[at]) << 16 | (rest == 2 ? UInt32(bytes[at + 1]) << 8 : 0)
        text.append(digits[Int(group >> 18)])
        text.append(digits[Int(group >> 12 & 63)])
        if rest == 2 { text.append(digits[Int(group >> 6 & 63)]) }
        if alphabet == .standard {
            for _ in rest..<3 { text.append(UInt8(ascii: "=")) }
        }
    }

    /// The bytes that the text stands for; nil when it is not how those bytes are written.
    package static func decode(
        _ text: UnsafeRawBufferPointer, _ alphabet: Alphabet = .standard
    ) -> [UInt8]? {
        var digitCount = text.count
        if alphabet == .standard {
            guard digitCount % 4 == 0 else { return nil }
            // A third `=` stays and is refused as a digit.
            while digitCount > 0, text.count - digitCount < 2,
                text[digitCount - 1] == UInt8(ascii: "=")
            {
                digitCount -= 1
            }
        }
        guard digitCount % 4 != 1 else { return nil }
        let values = alphabet == .standard ? standardValues : urlSafeValues
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digitCount / 4 * 3 + 2)
        var group: UInt32 = 0
        var bitCount: UInt32 = 0
        for at in 0..<digitCount {
            let value = values[Int(text[at])]
            guard value < 64 else { return nil }
            group = group << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bitCount))
                group &= (1 << bitCount) - 1
            }
        }
        return group == 0 ? bytes : nil
    }

    /// The bytes that the text stands for; nil when it is not how those bytes are written.
    package static func decode(_ text: [UInt8], _ alphabet: Alphabet = .standard) -> [UInt8]? {
        text.withUnsafeBytes { decode($0, alphabet) }
    }

    /// The bytes that the text stands for; nil when it is not how those bytes are written.
    package static func decode(_ text: String, _ alphabet: Alphabet = .standard) -> [UInt8]? {
        decode(Array(text.utf8), alphabet)
    }

    private static let commonDigits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let standardDigits = commonDigits + Array("+/".utf8)
    private static let urlSafeDigits = commonDigits + Array("-_".utf8)
    private static let standardValues = values(of: standardDigits)
    private static let urlSafeValues = values(of: urlSafeDigits)

    /// What each byte stands for as a digit; 255 for none.
    private static func values(of digits: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }
}
