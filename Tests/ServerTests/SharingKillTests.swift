import Foundation
import Seeding
import SharingModel
import Testing

@Suite("A server killed under people who share")
struct SharingKillTests {
    /// A longer run sets LENTICULAR_STEPS.
    private static let steps = TestSeed.number("LENTICULAR_STEPS").map { Int($0) } ?? 300

    @Test(
        "What was acknowledged holds, and every copy goes on with its tokens to what it should be")
    func kills() async throws {
        let seed = TestSeed.number("LENTICULAR_SEED") ?? TestSeed.value
        print("kill test of sharing: LENTICULAR_SEED=\(seed)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        let (kills, tally) = try await BlockingThread.run {
            let wire = try SharingProcessWire(data: data)
            var random = SeededRandom(seed: ~seed)
            var options = SharingRun.Options()
            options.hasAsking = false
            let run = try SharingRun(wire: wire, seed: seed, options: options)
            for _ in 0..<Self.steps {
                if random.happens(8) { wire.killSoon(microseconds: random.below(6_000)) }
                try Self.survive(wire, run) { try run.takeStep() }
            }
            try wire.restartIfKilled()
            try Self.survive(wire, run) { try run.catchUpAll() }
            try wire.end()
            return (wire.kills, run.tally)
        }
        print(
            "kill test of sharing: \(kills) kills, \(tally["lost but done"] ?? 0) requests done ",
            "without an answer, \(tally["lost and not done"] ?? 0) not done")
        #expect(kills > Self.steps / 100)
    }

    /// Goes on after a kill from what the server has kept.
    private static func survive(
        _ wire: SharingProcessWire, _ run: SharingRun, _ body: () throws -> Void
    ) throws {
        do { try body() } catch is SharingLoss {
            try wire.restartIfKilled()
            try run.recover()
        }
    }
}
