/// A key from a passphrase, slow to guess (RFC 7914), where the system's library has no scrypt: CryptoKit.
///
/// Blocks of 1,024 bytes, one lane. Elsewhere OpenSSL does it, which tests compare this with.
package enum Scrypt {
    /// The `r` of the RFC.
    private static let blockSize = 8
    /// Words of 32 bits in a block.
    private static let words = 32 * blockSize

    /// - Parameters:
    ///   - cost: a power of two above 1; memory is 1 KiB times that.
    ///   - count: bytes of the key.
    package static func key(
        from passphrase: [UInt8], salt: [UInt8], cost: Int, count: Int
    ) -> [UInt8] {
        precondition(cost > 1 && cost & (cost - 1) == 0, "the cost is a power of two")
        let bytes = stretched(passphrase, salt: salt, count: words * 4)
        var block = (0..<words).map { index in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[index * 4 + $1]) << (8 * UInt32($1)) }
        }
        mixWithMemory(&block, cost: cost)
        let mixed = block.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        return stretched(passphrase, salt: mixed, count: count)
    }

    /// The RFC's scryptROMix.
    private static func mixWithMemory(_ block: inout [UInt32], cost: Int) {
        var memory = [UInt32](repeating: 0, count: words * cost)
        var scratch = [UInt32](repeating: 0, count: words)
        memory.withUnsafeMutableBufferPointer { memory in
            block.withUnsafeMutableBufferPointer { block in
                scratch.withUnsafeMutableBufferPointer { scratch in
                    for step in 0..<cost {
                        for index in 0..<words { memory[step * words + index] = block[index] }
                        mix(block, scratch)
                    }
                    for _ in 0..<cost {
                        let place = Int(block[words - 16]) & (cost - 1)
                        for index in 0..<words { block[index] ^= memory[place * words + index] }
                        mix(block, scratch)
                    }
                }
            }
        }
    }

    private typealias Words = UnsafeMutableBufferPointer<UInt32>

    /// The RFC's scryptBlockMix: even parts go before odd ones.
    private static func mix(_ block: Words, _ scratch: Words) {
        var state = [UInt32](repeating: 0, count: 16)
        state.withUnsafeMutableBufferPointer { state in
            for index in 0..<16 { state[index] = block[words - 16 + index] }
            for part in 0..<(2 * blockSize) {
                for index in 0..<16 { state[index] ^= block[part * 16 + index] }
                salsa(state)
                let place = (part / 2 + (part % 2) * blockSize) * 16
                for index in 0..<16 { scratch[place + index] = state[index] }
            }
        }
        for index in 0..<words { block[index] = scratch[index] }
    }

    /// Salsa20/8 in place.
    private static func salsa(_ state: Words) {
        let rounds = [
            (0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11),
            (0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14),
        ]
        let before = Array(state)
        for _ in 0..<4 {
            for (a, b, c, d) in rounds {
                state[b] ^= rotated(state[a] &+ state[d], by: 7)
                state[c] ^= rotated(state[b] &+ state[a], by: 9)
                state[d] ^= rotated(state[c] &+ state[b], by: 13)
                state[a] ^= rotated(state[d] &+ state[c], by: 18)
            }
        }
        for index in 0..<16 { state[index] = state[index] &+ before[index] }
    }

    private static func rotated(_ word: UInt32, by bits: UInt32) -> UInt32 {
        word << bits | word >> (32 - bits)
    }

    /// PBKDF2 with HMAC-SHA-256 and one iteration (RFC 8018, 5.2).
    private static func stretched(_ passphrase: [UInt8], salt: [UInt8], count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var block: UInt32 = 1
        while bytes.count < count {
            bytes += code(of: salt + withUnsafeBytes(of: block.bigEndian, Array.init), passphrase)
            block += 1
        }
        return Array(bytes.prefix(count))
    }

    /// HMAC-SHA-256 (RFC 2104).
    private static func code(of message: [UInt8], _ key: [UInt8]) -> [UInt8] {
        var padded = key.count > 64 ? SHA256Digest.of(key) : key
        padded += [UInt8](repeating: 0, count: 64 - padded.count)
        let inner = SHA256Digest.of(padded.map { $0 ^ 0x36 } + message)
        return SHA256Digest.of(padded.map { $0 ^ 0x5C } + inner)
    }
}
