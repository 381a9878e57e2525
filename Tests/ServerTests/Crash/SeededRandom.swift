/// Random numbers that a seed repeats (splitmix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Another sequence for each of several threads.
    init(seed: UInt64, stream: Int) {
        state = seed ^ (UInt64(stream) &+ 1) &* 0xd134_2543_de82_ef95
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// True once in so many times.
    mutating func once(in count: Int) -> Bool { below(count) == 0 }
}
