/// Random numbers that a seed repeats (SplitMix64).
package struct SharingRandom: RandomNumberGenerator, Sendable {
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Whether a thing of this chance, in percent, happens.
    package mutating func happens(_ percent: Int) -> Bool { below(100) < percent }

    package mutating func one<Element>(of elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// Nil when there is none.
    package mutating func any<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : one(of: elements)
    }
}
