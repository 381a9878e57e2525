/// Base32 (RFC 4648 §6) without padding, as authenticator apps take secrets.
package enum Base32 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The text of the bytes, in capitals.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 8 + 4) / 5)
        var group: UInt16 = 0
        var bitCount: UInt16 = 0
        for byte in bytes {
            group = group << 8 | UInt16(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                text.append(digits[Int(group >> bitCount & 31)])
            }
            group &= (1 << bitCount) - 1
        }
        if bitCount > 0 { text.append(digits[Int(group << (5 - bitCount) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
