import Synchronization

/// Counts the connections of a whole server from their acceptance on, against the limit.
final class ConnectionBudget: Sendable {
    /// How many over the limit may wait at a time to read why they are refused.
    static let refusedCountMax = 256

    enum Verdict {
        case served
        case refused
        /// Closed without a word; not counted.
        case dropped
    }

    private let limit: Int
    private let count = Atomic<Int>(0)

    init(limit: Int) { self.limit = max(0, limit) }

    /// Counts one more, and says what may become of it.
    func take() -> Verdict {
        let before = count.wrappingAdd(1, ordering: .relaxed).oldValue
        if before < limit { return .served }
        if before < limit + Self.refusedCountMax { return .refused }
        give()
        return .dropped
    }

    /// One has ended.
    func give() { count.wrappingSubtract(1, ordering: .relaxed) }
}
