/// How many records a step of queued work takes, so that it holds up the writer only for a limited time.
///
/// Beside other writes, a step takes about a millisecond. Alone it takes longer, to make its commit worth
/// while.
struct StepSize {
    /// How long a step may hold up the writer before its commit, in nanoseconds, when nobody else writes.
    private static let aloneNanoseconds: UInt64 = 20_000_000
    private static let besideNanoseconds: UInt64 = 1_000_000

    private let range: ClosedRange<Int>
    private(set) var records: Int

    /// - Parameter first: the size of the first step, when nothing is known yet about its records.
    init(_ range: ClosedRange<Int>, first: Int = 1) {
        self.range = range
        records = min(max(first, range.lowerBound), range.upperBound)
    }

    /// Notes how long a step took.
    mutating func took(nanoseconds: UInt64, isAlone: Bool) {
        let wanted = isAlone ? Self.aloneNanoseconds : Self.besideNanoseconds
        let fitting = Double(records) * Double(wanted) / Double(max(1, nanoseconds))
        // At most doubles: the step may have met little to do.
        let next = Int(min(fitting, 2 * Double(records)))
        records = min(max(next, range.lowerBound), range.upperBound)
    }
}
