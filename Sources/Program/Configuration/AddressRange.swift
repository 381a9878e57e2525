#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// IP addresses that begin with the same bits: `192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`.
package struct AddressRange: Sendable, Equatable, LosslessStringConvertible {
    package let description: String
    /// Of the first address: 4 or 16.
    private let bytes: [UInt8]
    /// How many of its bits all addresses of the range share.
    package let bits: Int

    /// Reads an address or a range; nil when it is not a range, or when bits beyond the shared ones
    /// are set.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = Self.bytes(of: String(first)) else { return nil }
        var bits = bytes.count * 8
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                let shared = Int(parts[1]), shared <= bits
            else { return nil }
            bits = shared
        }
        for (index, byte) in bytes.enumerated() where byte & ~Self.mask(index, bits) != 0 {
            return nil
        }
        self.description = text
        self.bytes = bytes
        self.bits = bits
    }

    /// Whether an address in text form lies in the range; an IPv4 address also in its IPv6 form.
    package func contains(_ address: String) -> Bool {
        guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
        return bytes.indices.allSatisfy { index in
            (bytes[index] ^ other[index]) & Self.mask(index, bits) == 0
        }
    }

    /// The bits of one byte that are among the first `bits` of an address.
    private static func mask(_ index: Int, _ bits: Int) -> UInt8 {
        let shared = min(8, max(0, bits - index * 8))
        return shared == 0 ? 0 : .max << UInt8(8 - shared)
    }

    private static func bytes(of text: String) -> [UInt8]? {
        if text.utf8.contains(0) { return nil }
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 { return four }
        var sixteen = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        // NB: a socket for both families reports IPv4 peers as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
        let isMapped =
            sixteen[..<10].allSatisfy { $0 == 0 } && sixteen[10] == 255
            && sixteen[11] == 255
        return isMapped ? Array(sixteen[12...]) : sixteen
    }
}
