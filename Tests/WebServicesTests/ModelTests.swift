import Foundation
import Seeding
import Testing

@Suite("The server and the model of the rulings, side by side")
struct ModelTests {
    /// LENTICULAR_STEPS makes it longer.
    @Test("Random requests of several users come out as the rulings say")
    func random() throws {
        let steps = ProcessInfo.processInfo.environment["LENTICULAR_STEPS"].flatMap { Int($0) }
        var random = SeededRandom("model")
        var tally: [String: Int] = [:]
        for number in 0..<(steps ?? 4_000) / 400 {
            let run = try ModelRun(random: random, isBesideWriter: number % 2 == 1)
            random = try run.run(steps: 400)
            tally.merge(run.tally) { $0 + $1 }
        }
        for outcome in [
            "create", "update", "forceUpdate", "replace", "forceReplace", "delete", "forceDelete",
            "CONFLICT", "NOT_FOUND", "ATOMIC_ERROR", "BAD_REQUEST", "ACCESS_DENIED",
            "VALIDATING_REFERENCE_ERROR", "of others",
        ] {
            #expect(tally[outcome, default: 0] > 0, "\(outcome) never came: \(tally)")
        }
    }
}
