#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Makes request ids: cheap, unlike each other, and no secret.
///
/// The generator is xoshiro256** by Blackman and Vigna; one belongs to each event loop.
struct RequestIdentifiers: RandomNumberGenerator {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// Seeds from the operating system.
    init() {
        var system = SystemRandomNumberGenerator()
        self.init(seed: (system.next(), system.next(), system.next(), system.next()))
    }

    init(seed: (UInt64, UInt64, UInt64, UInt64)) {
        state = seed
        // The generator stands still on a state of zeros.
        if seed.0 | seed.1 | seed.2 | seed.3 == 0 { state.0 = 1 }
    }

    mutating func next() -> UInt64 {
        let product = state.1 &* 5
        let result = ((product << 7) | (product >> 57)) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = (state.3 << 45) | (state.3 >> 19)
        return result
    }

    /// A new id: 36 lower-case characters, a version 4 UUID (RFC 9562 §5.4).
    mutating func nextID() -> String {
        let high = next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { text in
            var at = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[at] = 0x2D
                    at += 1
                }
                let word = nibble < 16 ? high : low
                let value = UInt8(truncatingIfNeeded: word >> (60 - UInt64(nibble & 15) * 4)) & 15
                text[at] = value < 10 ? 48 + value : 87 + value
                at += 1
            }
            return 36
        }
    }
}
