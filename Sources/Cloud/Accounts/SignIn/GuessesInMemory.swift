import Storage
import Synchronization

/// The counts of guesses of a server that has its data to itself.
final class GuessesInMemory: GuessCounts {
    private let counts: Mutex<[GuessCount]>

    init(slotCount: Int) { counts = Mutex(Array(repeating: GuessCount(), count: slotCount)) }

    func change<Value: Sendable>(_ slots: [Int], _ body: (inout [GuessCount]) -> Value) -> Value {
        counts.withLock { counts in
            var chosen = slots.map { counts[$0] }
            let value = body(&chosen)
            for (slot, count) in zip(slots, chosen) { counts[slot] = count }
            return value
        }
    }
}
