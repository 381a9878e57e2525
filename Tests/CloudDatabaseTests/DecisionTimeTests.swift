import Testing

@testable import CloudDatabase

@Suite("How long a decision may take in the writer")
struct DecisionTimeTests {
    private final class Passed {
        var worked: UInt64 = 70_000_000
        var uptime: UInt64 = 900_000_000
    }

    /// Whether a decision of at most 10 ms is over after so many milliseconds.
    private func isOver(worked: UInt64, passed: UInt64) -> Bool {
        let now = Passed()
        let time = DecisionTime(
            millisecondsMax: 10,
            clocks: DecisionTime.Clocks(worked: { now.worked }, uptime: { now.uptime }))
        now.worked += worked * 1_000_000
        now.uptime += passed * 1_000_000
        do { try time.check() } catch { return true }
        return false
    }

    @Test("It is over when its thread has worked for so long, not when others had the processor")
    func worked() {
        #expect(!isOver(worked: 9, passed: 9))
        #expect(isOver(worked: 10, passed: 10))
        #expect(!isOver(worked: 2, passed: 39), "38 ms of others")
        #expect(isOver(worked: 11, passed: 39))
    }

    @Test("It is over after four times as long by the clock, as for one that waits for a disk")
    func passed() { #expect(isOver(worked: 1, passed: 40)) }

    @Test("A thread's time grows by what it works")
    func thread() {
        let before = DecisionTime.workedNanoseconds()
        var sum: UInt64 = 0
        while DecisionTime.workedNanoseconds() < before + 2_000_000 { sum &+= 1 }
        #expect(sum > 0)
    }
}
