import Foundation

/// Where randomised tests get their choices from; LENTICULAR_KILL_SEED repeats those of a run,
/// though not the scheduling of its threads.
enum TestSeed {
    static let value = number("LENTICULAR_KILL_SEED") ?? .random(in: 0..<(1 << 32))

    /// A number from the environment.
    static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}
