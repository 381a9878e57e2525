/// How much a step of overwriting does, so that it holds up the writer only for a moment.
struct OverwritingPace {
    /// How long a step is to take before its commit, in nanoseconds: beside other writes, and alone.
    private static let besideNanoseconds: UInt64 = 1_000_000
    private static let aloneNanoseconds: UInt64 = 10_000_000

    private(set) var amount: Int
    private let most: Int

    init(first: Int, most: Int) { (amount, self.most) = (first, most) }

    /// Notes how long a step took.
    mutating func took(nanoseconds: UInt64, isAlone: Bool) {
        let wanted = isAlone ? Self.aloneNanoseconds : Self.besideNanoseconds
        let fitting = Double(amount) * Double(wanted) / Double(max(1, nanoseconds))
        amount = min(max(1, Int(min(fitting, 2 * Double(amount)))), most)
    }
}
