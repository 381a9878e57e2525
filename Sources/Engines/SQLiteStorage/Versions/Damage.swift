import Storage
import Synchronization

/// The damaged versions that a store's readers have met, each counted and told of once.
final class Damage: Sendable {
    /// More than these are neither told of nor counted.
    private static let metMax = 10_000

    private let met = Mutex<Set<Int64>>([])
    private let counts: EngineCounts
    private let report: @Sendable (DamagedVersion) -> Void

    init(
        _ counts: EngineCounts = EngineCounts(),
        report: @escaping @Sendable (DamagedVersion) -> Void = { _ in }
    ) {
        self.counts = counts
        self.report = report
    }

    func note(_ damaged: DamagedVersion) {
        let isNew = met.withLock {
            $0.count < Self.metMax
                && $0.insert(SQLiteSnapshot.key(damaged.zone, damaged.position)).inserted
        }
        guard isNew else { return }
        counts.noteDamaged()
        report(damaged)
    }
}
