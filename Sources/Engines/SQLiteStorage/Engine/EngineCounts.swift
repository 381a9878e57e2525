import Synchronization

/// What an engine counts, over all stores that this process has had open.
final class EngineCounts: Sendable {
    private let damagedCount = Atomic<Int>(0)

    /// Versions that were met and are not what was written, each once for each opening of its store.
    var damaged: Int { damagedCount.load(ordering: .relaxed) }

    func noteDamaged() { damagedCount.add(1, ordering: .relaxed) }
}
