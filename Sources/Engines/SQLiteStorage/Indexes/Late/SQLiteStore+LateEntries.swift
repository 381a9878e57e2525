import Dispatch
import Storage

extension SQLiteStore {
    /// How many rows of one zone are looked at together.
    private static let rowsMax = 128
    /// The longest pause after a step.
    private static let pauseNanosecondsMax: UInt64 = 50_000_000

    package func maintain(while goesOn: () -> Bool) throws -> Bool {
        var zone = ZoneNumber(.min)
        while goesOn() {
            guard let found = try findLateEntries(behind: zone) else { return zone.value != .min }
            zone = found.zone
            var left = found.entries
            while !left.isEmpty {
                guard goesOn() else { return true }
                left = try writeStep(left)
            }
        }
        return true
    }

    /// Writes one step, and pauses for as long as it took where others write.
    private func writeStep(_ entries: [LateEntries]) throws -> [LateEntries] {
        let (start, writes) = (DispatchTime.now().uptimeNanoseconds, notices.writeCount)
        let left = try writeAndWait(cost: 64, caller: .background) { transaction in
            guard let transaction = transaction as? SQLiteTransaction else {
                return [LateEntries]()
            }
            var entriesMax = IndexBounds.stepEntriesMax
            var left = entries[...]
            while entriesMax > 0, let next = left.first, next.fits(entriesMax) {
                left = left.dropFirst()
                if let rest = try transaction.write(next, entriesMax: &entriesMax) {
                    left = [rest] + left
                }
            }
            try transaction.finishLateEntries()
            return Array(left)
        }
        let took = DispatchTime.now().uptimeNanoseconds &- start
        if notices.writeCount &- writes > 1 {
            let pause = Int(min(took, Self.pauseNanosecondsMax))
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .nanoseconds(pause))
        }
        return left
    }

    /// The first rows of the next zone in turn, with their entries; nil behind the last zone.
    private func findLateEntries(
        behind zone: ZoneNumber
    ) throws -> (zone: ZoneNumber, entries: [LateEntries])? {
        try read { snapshot in
            guard let snapshot = snapshot as? SQLiteSnapshot else { return nil }
            let rows = try snapshot.storedIndexes.lateRows(behind: zone, limit: Self.rowsMax)
            guard let first = rows.first else { return nil }
            var found: [LateEntries] = []
            var count = 0
            for row in rows where count < IndexBounds.stepEntriesMax {
                let late = try snapshot.lateEntries(of: row)
                found.append(late)
                count += max(1, late.count)
            }
            return (first.zone, found)
        }
    }
}

extension SQLiteSnapshot {
    /// The entries that a row says are still to go and to come; none where its index is not there.
    func lateEntries(of row: LateRow) throws -> LateEntries {
        let position = try location(of: row.record)?.position
        guard let index = try storedIndexes.indexes().first(where: { $0.number == row.index })
        else {
            return LateEntries(
                row, position: position, isWanted: false, previous: [], present: [], entriesMax: 1)
        }
        // Also of an index that leaves: the work that empties it takes out what the record says by then.
        let isWanted = index.holds(row.record)
        return LateEntries(
            row, position: position, isWanted: isWanted,
            previous: try storedIndexes.previousEntries(of: row, in: index),
            present: isWanted ? try storedIndexes.presentEntries(of: row, in: index) : [],
            entriesMax: IndexBounds.stepEntriesMax)
    }
}
