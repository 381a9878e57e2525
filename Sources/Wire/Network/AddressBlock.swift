#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The addresses that count as one client: an IPv4 address, or the /64 that an IPv6 address lies in.
///
/// Whoever has one address of a /64 has all of them, so that they are told apart no further. An IPv4
/// address in its IPv6 form (RFC 4291 §2.5.5.2) counts as the IPv4 address.
package struct AddressBlock: Sendable, Hashable {
    private let isIPv6: Bool
    /// The IPv4 address, or the first half of the IPv6 address.
    private let bits: UInt64

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
