import Foundation

/// Random numbers that a seed repeats (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Another sequence for each of several threads.
    package init(seed: UInt64, stream: Int) {
        self.init(seed: seed ^ (UInt64(stream) &+ 1) &* 0xd134_2543_de82_ef95)
        _ = next()
    }

    /// From the seed in `LENTICULAR_SEED`, or a new one; either is printed, so that what fails can be
    /// repeated.
    package init(_ what: String) {
        let given = ProcessInfo.processInfo.environment["LENTICULAR_SEED"].flatMap { UInt64($0) }
        self.init(seed: given ?? .random(in: 0 ... .max))
        print("\(what): LENTICULAR_SEED=\(seed)")
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// True once in so many times.
    package mutating func once(in count: Int) -> Bool { below(count) == 0 }

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
