/// Which addresses belong to the internet at large, and which to machines and networks of their own.
///
/// After the registries of special addresses of IANA (RFC 6890 and what it lists since).
package enum AddressScope {
    private struct Range {
        let first: [UInt8]
        let bits: Int

        /// - Parameter first: the bytes that are not zero.
        init(_ first: UInt8..., bits: Int) {
            self.first = first
            self.bits = bits
        }

        func contains(_ address: [UInt8]) -> Bool {
            for index in 0..<(bits + 7) / 8 {
                let shared = min(8, bits - index * 8)
                let mask = UInt8.max << UInt8(8 - shared)
                let wanted = index < first.count ? first[index] : 0
                if (address[index] ^ wanted) & mask != 0 { return false }
            }
            return true
        }
    }

    /// Loopback, private, link-local, carriers' own, documentation, measuring, multicast and reserved.
    private static let specialIPv4 = [
        Range(0, bits: 8), Range(10, bits: 8), Range(100, 64, bits: 10), Range(127, bits: 8),
        Range(169, 254, bits: 16), Range(172, 16, bits: 12), Range(192, 0, 0, bits: 24),
        Range(192, 0, 2, bits: 24), Range(192, 31, 196, bits: 24), Range(192, 52, 193, bits: 24),
        Range(192, 88, 99, bits: 24), Range(192, 168, bits: 16), Range(192, 175, 48, bits: 24),
        Range(198, 18, bits: 15), Range(198, 51, 100, bits: 24), Range(203, 0, 113, bits: 24),
        Range(224, bits: 3),
    ]

    /// Of the global unicast addresses: those that stand for others (Teredo, 6to4) or for nobody.
    private static let specialIPv6 = [
        Range(0x20, 0x01, bits: 23), Range(0x20, 0x01, 0x0D, 0xB8, bits: 32),
        Range(0x20, 0x02, bits: 16), Range(0x26, 0x20, 0x00, 0x4F, 0x80, 0x00, bits: 48),
        Range(0x3F, 0xFF, bits: 20),
    ]

    /// Global unicast.
    ///
    /// IPv4 in the forms of IPv6, NAT64, unique-local, link-local, multicast and
    /// loopback addresses all lie outside.
    private static let globalIPv6 = Range(0x20, bits: 3)

    /// Whether an address of 4 or 16 bytes is one of a machine on the internet; others are not.
    package static func isPublic(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !specialIPv4.contains { $0.contains(address) }
        case 16:
            globalIPv6.contains(address) && !specialIPv6.contains { $0.contains(address) }
        default: false
        }
    }
}
