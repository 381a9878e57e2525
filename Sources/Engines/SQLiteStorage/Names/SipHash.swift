/// SipHash-2-4: a keyed hash of 64 bits for short inputs.
///
/// Anyone who does not know the key cannot find inputs that meet. From "SipHash: a fast short-input PRF", Aumasson and
/// Bernstein, 2012.
package struct SipHash {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var count: UInt64 = 0

    /// - Parameters:
    ///   - key0: the first eight bytes of the key, read as a little-endian number.
    ///   - key1: the other eight.
    package init(key0: UInt64, key1: UInt64) {
        v0 = key0 ^ 0x736f_6d65_7073_6575
        v1 = key1 ^ 0x646f_7261_6e64_6f6d
        v2 = key0 ^ 0x6c79_6765_6e65_7261
        v3 = key1 ^ 0x7465_6462_7974_6573
    }

    /// Takes eight bytes in, given as a little-endian number.
    package mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
        count &+= 8
    }

    /// The hash of what was absorbed and of these bytes after it.
    package mutating func finish(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let words = bytes.count / 8
        for index in 0..<words {
            absorb(
                UInt64(
                    littleEndian: bytes.loadUnaligned(
                        fromByteOffset: index * 8, as: UInt64.self)))
        }
        var last: UInt64 = 0
        for index in (words * 8..<bytes.count).reversed() {
            last = last << 8 | UInt64(bytes[index])
        }
        absorb(last | (count &+ UInt64(bytes.count % 8)) << 56)
        v2 ^= 0xff
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
        v0 &+= v1
        v1 = Self.rotated(v1, 13) ^ v0
        v0 = Self.rotated(v0, 32)
        v2 &+= v3
        v3 = Self.rotated(v3, 16) ^ v2
        v0 &+= v3
        v3 = Self.rotated(v3, 21) ^ v0
        v2 &+= v1
        v1 = Self.rotated(v1, 17) ^ v2
        v2 = Self.rotated(v2, 32)
    }

    @inline(__always)
    private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 {
        word &<< bits | word &>> (64 &- bits)
    }
}
