import Foundation
import Testing

@Suite("A server killed under load")
struct KillTests {
    /// How often the server is killed; a longer run sets LENTICULAR_KILL_ROUNDS.
    private static let rounds = TestSeed.number("LENTICULAR_KILL_ROUNDS").map { Int($0) } ?? 50

    @Test("What was acknowledged outlives every kill, and nothing else comes back")
    func kills() async throws {
        print("kill test: \(Self.rounds) rounds, LENTICULAR_KILL_SEED=\(TestSeed.value)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        let report = try await BlockingThread.run {
            let endings = Array(repeating: CrashRun.Ending.kill, count: Self.rounds)
            return try CrashRun(data: data, endings: endings, seed: TestSeed.value).run()
        }
        print("kill test: \(report)")
        for violation in report.violations.prefix(20) {
            Issue.record("seed \(TestSeed.value), \(violation)")
        }
        #expect(report.rounds == Self.rounds)
        #expect(report.writes > Self.rounds)
        #expect(report.unanswered > 0, "no kill met a write")
    }
}
