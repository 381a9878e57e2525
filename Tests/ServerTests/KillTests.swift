import Foundation
import Testing

@Suite("A server killed under load")
struct KillTests {
    /// How often the server is killed; a longer run sets LENTICULAR_KILL_ROUNDS.
    private static let rounds = number("LENTICULAR_KILL_ROUNDS").map { Int($0) } ?? 50
    /// Repeats the choices of an earlier run, though not the scheduling of its threads.
    private static let seed = number("LENTICULAR_KILL_SEED") ?? .random(in: 0..<(1 << 32))

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test("What was acknowledged outlives every kill, and nothing else comes back")
    func kills() async throws {
        print("kill test: \(Self.rounds) rounds, LENTICULAR_KILL_SEED=\(Self.seed)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        let report = try await onThread {
            try CrashRun(data: data, rounds: Self.rounds, seed: Self.seed).run()
        }
        print("kill test: \(report)")
        for violation in report.violations.prefix(20) {
            Issue.record("seed \(Self.seed), \(violation)")
        }
        #expect(report.rounds == Self.rounds)
        #expect(report.writes > Self.rounds)
        #expect(report.unanswered > 0, "no kill met a write")
    }

    /// Runs what blocks on a thread of its own, so that other tests keep theirs.
    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}
