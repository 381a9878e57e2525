import Storage
import Synchronization

/// What an engine counts, over all stores that this process has had open.
final class EngineCounts: Sendable {
    private let damagedCount = Atomic<Int>(0)
    private let movedVersions = Atomic<Int>(0)
    private let movedNames = Atomic<Int>(0)

    /// Versions that were met and are not what was written, each once for each opening of its store.
    var damaged: Int { damagedCount.load(ordering: .relaxed) }

    func noteDamaged() { damagedCount.add(1, ordering: .relaxed) }

    /// Rows of a former server that were brought into the present form.
    func moved(_ rows: FormerRows) -> Int {
        switch rows {
        case .versions: movedVersions.load(ordering: .relaxed)
        case .names: movedNames.load(ordering: .relaxed)
        }
    }

    func noteMoved(_ rows: FormerRows, _ count: Int) {
        switch rows {
        case .versions: movedVersions.add(count, ordering: .relaxed)
        case .names: movedNames.add(count, ordering: .relaxed)
        }
    }
}
