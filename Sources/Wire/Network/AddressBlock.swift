import Platform

/// The addresses that count as one client: an IPv4 address, or the /64 that an IPv6 address lies in.
///
/// A client that has one address of a /64 has all of them, so the server does not tell them apart. An IPv4
/// address in its IPv6 form (RFC 4291 §2.5.5.2) counts as the IPv4 address.
package struct AddressBlock: Sendable, Hashable {
    private let isIPv6: Bool
    /// The IPv4 address, or the first half of the IPv6 address.
    private let bits: UInt64
    /// How many leading bits of an IPv6 address count.
    private var prefixBits = 64

    /// The blocks around it that one customer of a provider often has whole: /56 and /48; none for IPv4.
    package var wider: [AddressBlock] {
        guard isIPv6 else { return [] }
        return [56, 48].map { AddressBlock(isIPv6: true, bits: bits, prefixBits: $0) }
    }

    private init(isIPv6: Bool, bits: UInt64, prefixBits: Int) {
        self.isIPv6 = isIPv6
        self.bits = bits & (UInt64.max << UInt64(64 - prefixBits))
        self.prefixBits = prefixBits
    }

    /// Longer texts are no addresses: eight groups of four digits, or with an IPv4 address at the end.
    private static let textBytesMax = 45

    /// Reads a numeric address without port, brackets or zone; nil for anything else, such as `unix`.
    package init?(_ text: String) {
        var text = text
        guard let block = text.withUTF8({ Self(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = block
    }

    /// As above, from the bytes of the text.
    package init?(_ text: UnsafeRawBufferPointer) {
        guard (2...Self.textBytesMax).contains(text.count), !text.contains(0) else { return nil }
        var address = in6_addr()
        let family = text.contains(UInt8(ascii: ":")) ? AF_INET6 : AF_INET
        let isAddress = withUnsafeTemporaryAllocation(of: CChar.self, capacity: text.count + 1) {
            line in
            for (index, byte) in text.enumerated() { line[index] = CChar(bitPattern: byte) }
            line[text.count] = 0
            return inet_pton(family, line.baseAddress, &address) == 1
        }
        guard isAddress else { return nil }
        let halves = withUnsafeBytes(of: &address) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        if family == AF_INET {
            (isIPv6, bits) = (false, halves.0 >> 32)
        } else if halves.0 == 0, halves.1 >> 32 == 0xFFFF {
            (isIPv6, bits) = (false, halves.1 & 0xFFFF_FFFF)
        } else {
            (isIPv6, bits) = (true, halves.0)
        }
    }
}

extension AddressBlock: CustomStringConvertible {
    /// An IPv4 address, or such as `2001:db8:0:1::/64`.
    package var description: String {
        if isIPv6 {
            let groups = (0..<4).map { String((bits >> (48 - 16 * $0)) & 0xFFFF, radix: 16) }
            return "\(groups.joined(separator: ":"))::/\(prefixBits)"
        }
        return (0..<4).map { "\((bits >> (24 - 8 * $0)) & 0xFF)" }.joined(separator: ".")
    }
}
