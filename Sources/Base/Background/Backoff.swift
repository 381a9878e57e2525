/// How long to wait after failures: twice as long after each, up to a longest time.
///
/// Half of each wait is left to chance, so that many that failed together do not come back together.
package struct Backoff: Sendable {
    package let firstMilliseconds: Int64
    package let longestMilliseconds: Int64
    private let random: @Sendable () -> UInt64

    /// - Parameters:
    ///   - first: milliseconds after the first failure, at most.
    ///   - longest: milliseconds, however many failures there were.
    ///   - random: a number from an even distribution.
    package init(
        first: Int64, longest: Int64,
        random: @escaping @Sendable () -> UInt64 = { .random(in: 0 ... .max) }
    ) {
        firstMilliseconds = first
        longestMilliseconds = longest
        self.random = random
    }

    /// - Parameter failures: in a row, with the latest one.
    package func milliseconds(after failures: Int) -> Int64 {
        // 2^40 milliseconds are longer than anybody waits.
        let doublings = Int64(min(max(failures, 1) - 1, 40))
        let (doubled, isOver) = firstMilliseconds.multipliedReportingOverflow(by: 1 << doublings)
        let most = isOver ? longestMilliseconds : min(doubled, longestMilliseconds)
        let share = random().multipliedFullWidth(by: UInt64(max(0, most - most / 2)) + 1).high
        return most / 2 + Int64(share)
    }
}
