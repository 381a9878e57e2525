import Foundation

/// Random numbers that a seed repeats (SplitMix64); the seed is printed when the generator is made.
///
/// The environment variable LENTICULAR_SEED gives the seed.
struct SeededGenerator: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(_ what: String) {
        let given = ProcessInfo.processInfo.environment["LENTICULAR_SEED"].flatMap { UInt64($0) }
        seed = given ?? .random(in: 0 ... .max)
        state = seed
        print("\(what): LENTICULAR_SEED=\(seed)")
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Whether a thing of this chance, in percent, happens.
    mutating func happens(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }

    mutating func one<Element>(of elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }
}
