import Platform

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
            let bytes = UnsafeMutableRawBufferPointer(text)
            func write(_ digits: UInt32, at offset: Int) {
                bytes.storeBytes(of: digits, toByteOffset: offset, as: UInt32.self)
            }
            // Groups of 8, 4, 4, 4 and 12 digits, with a hyphen before each but the first.
            let digits = (
                Self.digits(high >> 32), Self.digits(high), Self.digits(low >> 32), Self.digits(low)
            )
            bytes.initializeMemory(as: UInt8.self, repeating: 0x2D)
            write(digits.0.first, at: 0)
            write(digits.0.last, at: 4)
            write(digits.1.first, at: 9)
            write(digits.1.last, at: 14)
            write(digits.2.first, at: 19)
            write(digits.2.last, at: 24)
            write(digits.3.first, at: 28)
            write(digits.3.last, at: 32)
            return 36
        }
    }

    /// The hexadecimal digits of the lower 32 bits, as they lie in memory, in two halves.
    private static func digits(_ bits: UInt64) -> (first: UInt32, last: UInt32) {
        // Four bits move into each byte.
        var spread = bits & 0xFFFF_FFFF
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        spread = (spread | spread << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // Those above 9 are letters, which lie 39 behind the digits.
        let letters = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let text = spread &+ 0x3030_3030_3030_3030 &+ letters &* 39
        return (
            UInt32(truncatingIfNeeded: text >> 32).bigEndian,
            UInt32(truncatingIfNeeded: text).bigEndian
        )
    }
}
