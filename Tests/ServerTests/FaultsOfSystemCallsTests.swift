import Foundation
import Testing

/// System calls that fail under load, one position after the other, by strace.
@Suite("A server whose system calls fail under load", .enabled(if: FaultTracer.isAvailable))
struct FaultsOfSystemCallsTests {
    /// The calls of a thread that are made to fail, one a round.
    private static let positions = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30]

    private func run(_ endings: [CrashRun.Ending]) async throws -> CrashRun.Report {
        print("fault test: LENTICULAR_KILL_SEED=\(TestSeed.value)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        let report = try await BlockingThread.run {
            try CrashRun(data: data, endings: endings, seed: TestSeed.value).run()
        }
        print("fault test: \(report)")
        for violation in report.violations.prefix(20) {
            Issue.record("seed \(TestSeed.value), \(violation)")
        }
        #expect(report.rounds == endings.count)
        return report
    }

    @Test("A sync that fails ends the server with 74, and nothing acknowledged is lost")
    func syncFails() async throws {
        let report = try await run(
            Self.positions.map {
                .fatalFault(
                    SystemCallFault(calls: "fdatasync,fsync", error: "EIO", when: "\($0)"))
            })
        #expect(report.faults > 0)
    }

    @Test("A write that fails in a commit ends the server with 74, and nothing is lost")
    func writeFails() async throws {
        let report = try await run(
            Self.positions.map {
                .fatalFault(SystemCallFault(calls: "pwrite64", error: "EIO", when: "\($0 * 2)"))
            })
        #expect(report.faults > 0)
    }

    @Test("A disk that is full for a moment refuses writes, and the server goes on by itself")
    func diskFull() async throws {
        let report = try await run(
            [1, 4, 9, 25].map {
                .survivedFault(
                    SystemCallFault(calls: "pwrite64", error: "ENOSPC", when: "\($0)"))
            })
        #expect(report.diskFull > 0)
        #expect(report.faults == 0)
    }
}
