/// The form of a signature on P-256: `ECDSA-Sig-Value` of RFC 3279 §2.2.3 in DER.
package enum ECDSASignature {
    /// The order of the curve's group (FIPS 186-4 §D.1.2.3).
    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63,
        0x25, 0x51,
    ]

    /// Whether the bytes are two numbers from 1 to below the group's order, in strict DER.
    ///
    /// Anything else is no signature of any key. Checking a well-formed one takes the same time
    /// whatever its numbers are; an ill-formed one is found out much sooner.
    package static func isWellFormed(_ bytes: [UInt8]) -> Bool {
        // Two numbers of at most 33 bytes: all lengths fit into one byte.
        guard bytes.count >= 2, bytes[0] == 0x30, Int(bytes[1]) == bytes.count - 2,
            bytes[1] < 0x80
        else { return false }
        var rest = bytes[2...]
        return takeNumber(&rest) && takeNumber(&rest) && rest.isEmpty
    }

    /// Both numbers side by side in 64 bytes, as JOSE and Web Push write them (RFC 7518 §3.4).
    ///
    /// Nil for what is not well-formed.
    package static func joined(fromDER bytes: [UInt8]) -> [UInt8]? {
        guard isWellFormed(bytes) else { return nil }
        let firstEnd = 4 + Int(bytes[3])
        return padded(bytes[4..<firstEnd]) + padded(bytes[(firstEnd + 2)...])
    }

    /// The signature in DER that stands in 64 bytes; nil for any other length.
    ///
    /// What comes of numbers that no signature has is refused when it is verified.
    package static func der(fromJoined bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 64 else { return nil }
        let body = number(bytes[..<32]) + number(bytes[32...])
        return [0x30, UInt8(body.count)] + body
    }

    private static func padded(_ number: ArraySlice<UInt8>) -> [UInt8] {
        let digits = number.drop { $0 == 0 }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }

    private static func takeNumber(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let header = Array(rest.prefix(2))
        guard header.count == 2, header[0] == 0x02, (1...33).contains(header[1]) else {
            return false
        }
        rest = rest.dropFirst(2)
        let number = Array(rest.prefix(Int(header[1])))
        guard number.count == Int(header[1]), let first = number.first, first < 0x80 else {
            return false
        }
        rest = rest.dropFirst(number.count)
        guard first == 0 else { return number.count <= 32 && isBelowOrder(number) }
        // A zero in front only keeps a high bit from meaning a sign; alone it is the number 0.
        guard number.count > 1, number[1] >= 0x80 else { return false }
        return isBelowOrder(Array(number.dropFirst()))
    }

    private static func isBelowOrder(_ number: [UInt8]) -> Bool {
        number.count < order.count || number.lexicographicallyPrecedes(order)
    }
}
