/// How many records a step of some kind of work takes, so that it holds the writer up for so long only.
///
/// A step beside other writes takes about a millisecond; alone it takes more, for the sake of its commit.
struct StepSize {
    /// How long a step may hold the writer up before its commit.
    private static let aloneNanoseconds: UInt64 = 20_000_000
    private static let besideNanoseconds: UInt64 = 1_000_000

    private let range: ClosedRange<Int>
    private(set) var records: Int

    /// - Parameter first: what the first step takes, when nothing is known of its records yet.
    init(_ range: ClosedRange<Int>, first: Int) {
        self.range = range
        records = min(max(first, range.lowerBound), range.upperBound)
    }

    /// Takes note of a step.
    mutating func took(nanoseconds: UInt64, isAlone: Bool) {
        let wanted = isAlone ? Self.aloneNanoseconds : Self.besideNanoseconds
        let fitting = Double(records) * Double(wanted) / Double(max(1, nanoseconds))
        // No faster than by doubling: a step may have met little to do.
        let next = Int(min(fitting, 2 * Double(records)))
        records = min(max(next, range.lowerBound), range.upperBound)
    }
}
