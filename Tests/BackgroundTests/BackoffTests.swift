import Background
import Seeding
import Synchronization
import Testing

/// How long is waited after failures.
@Suite("Back-off")
struct BackoffTests {
    @Test("Each wait is between half and all of twice the one before, up to the longest")
    func doubling() {
        let random = Mutex(SeededRandom("back-off"))
        let backoff = Backoff(first: 1_000, longest: 60_000) { random.withLock { $0.next() } }
        for _ in 0..<100 {
            for (failures, most) in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000].enumerated() {
                let wait = backoff.milliseconds(after: failures + 1)
                #expect((Int64(most / 2)...Int64(most)).contains(wait))
            }
            for failures in [7, 8, 41, 64, .max] {
                #expect((30_000...60_000).contains(backoff.milliseconds(after: failures)))
            }
        }
    }

    @Test("Many who fail together come back apart")
    func apart() {
        let random = Mutex(SeededRandom("back-off"))
        let backoff = Backoff(first: 10_000, longest: 60_000) { random.withLock { $0.next() } }
        let waits = (0..<1_000).map { _ in backoff.milliseconds(after: 1) }
        let byTenth = Dictionary(grouping: waits) { ($0 - 5_000) * 10 / 5_001 }
        #expect(byTenth.count == 10)
        #expect(byTenth.values.allSatisfy { (50...200).contains($0.count) })
    }

    @Test("The shortest and the longest chance make half and all of the wait")
    func bounds() {
        #expect(Backoff(first: 100, longest: 900) { 0 }.milliseconds(after: 1) == 50)
        #expect(Backoff(first: 100, longest: 900) { .max }.milliseconds(after: 2) == 200)
        #expect(Backoff(first: 100, longest: 900) { .max }.milliseconds(after: 9) == 900)
        #expect(Backoff(first: .max, longest: .max) { .max }.milliseconds(after: 9) == .max)
        #expect(Backoff(first: 100, longest: 900) { .max }.milliseconds(after: .min) == 100)
    }
}
