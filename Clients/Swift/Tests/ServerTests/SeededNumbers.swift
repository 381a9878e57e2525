import CloudKitWire
import Foundation

/// Random numbers for several threads, the same for the same seed (SplitMix64).
///
/// It prints its seed; `LENTICULAR_SEED` repeats one.
final class SeededNumbers: Sendable {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    let seed: UInt64
    private let generator: Locked<Generator>

    init() {
        let given = ProcessInfo.processInfo.environment["LENTICULAR_SEED"].flatMap { UInt64($0) }
        seed = given ?? UInt64.random(in: 0...UInt64.max)
        generator = Locked(Generator(state: seed))
        print("LENTICULAR_SEED=\(seed)")
    }

    /// A number from zero on.
    func below(_ end: Int) -> Int {
        generator.withLock { Int.random(in: 0..<end, using: &$0) }
    }
}

#if canImport(Glibc)
    extension SeededNumbers {
        /// A network that breaks so many requests of a hundred, each in one of all ways; one of them is not to.
        func breaking(_ percent: Int) -> @Sendable () -> FaultyProxy.Fate {
            {
                guard self.below(100) < percent else { return .pass }
                return FaultyProxy.Fate.allCases[self.below(FaultyProxy.Fate.allCases.count)]
            }
        }
    }
#endif
