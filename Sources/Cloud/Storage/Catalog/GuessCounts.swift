import CloudModel

/// How often something was guessed, and when last.
package struct GuessCount: Sendable, Equatable {
    package var count: UInt32
    package var lastAt: Milliseconds

    package init(count: UInt32 = 0, lastAt: Milliseconds = 0) {
        self.count = count
        self.lastAt = lastAt
    }
}

/// Counts of guesses, each in one of a fixed number of slots.
///
/// A catalog that several processes share counts for all of them, and keeps this contract; where there is none, each
/// process counts in memory.
package protocol GuessCounts: Sendable {
    /// Has `body` look at the counts of some slots and change them; nobody else changes them meanwhile.
    ///
    /// - Parameters:
    ///   - slots: none of them twice.
    ///   - body: may be called twice; what it has returned last counts.
    func change<Value: Sendable>(
        _ slots: [Int], _ body: (inout [GuessCount]) -> Value
    ) throws -> Value
}
