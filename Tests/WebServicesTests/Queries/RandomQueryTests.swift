import Foundation
import Seeding
import Testing

@Suite("Queries and a plain evaluator, side by side")
struct RandomQueryTests {
    /// LENTICULAR_STEPS makes it longer, LENTICULAR_SEED repeats it.
    @Test("Random queries over records that change find what they should, in order, page by page")
    func random() throws {
        let steps = ProcessInfo.processInfo.environment["LENTICULAR_STEPS"].flatMap { Int($0) }
        var random = SeededRandom("queries")
        var found: [String: Int] = [:]
        // A seed may pass a comparator by; a few rounds more meet all of them.
        let rounds = max(1, (steps ?? 600) / 300)
        for round in 0..<(rounds + 20) {
            let isMissing = ComparatorTests.comparators.contains { found[$0] == nil }
            guard round < rounds || isMissing else { break }
            var run = try QueryRun(random: random)
            random = try run.run(records: 160, queries: 300)
            found.merge(run.found) { $0 + $1 }
        }
        for comparator in ComparatorTests.comparators {
            #expect(
                found[comparator, default: 0] > 0, "\(comparator) never found anything: \(found)")
        }
    }
}
