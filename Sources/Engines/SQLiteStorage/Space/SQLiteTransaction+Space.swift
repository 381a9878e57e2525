import CloudModel
import Storage

/// When a store's file is worth being made smaller by itself.
///
/// Pages that hold nothing are good for the next writes: taking them is cheaper than making the file longer. So some
/// stay, and nothing is moved for little.
private enum SpaceThreshold {
    static let pagesMin = 1_024
    /// Parts of the file: free ones that start it, and free ones that stay.
    static let startsAt = 4
    static let stops = 16
}

extension SQLiteTransaction {
    /// Leaves it as work to give back pages, where much of the file holds nothing.
    func queueSpaceIfWorthIt() throws {
        let free = try connection.freePageCount()
        guard free >= SpaceThreshold.pagesMin,
            free >= (try connection.pageCount()) / SpaceThreshold.startsAt
        else { return }
        try enqueue(.maintenance(.space))
    }

    /// Gives some pages back.
    ///
    /// - Returns: whether there is more to do.
    func giveBackPages(_ count: Int) throws -> Bool {
        group.spaceTurns.stepBegan()
        try connection.giveBackFreePages(countMax: count)
        let free = try connection.freePageCount()
        return free > (try connection.pageCount()) / SpaceThreshold.stops
    }

    /// When the next step is due after a step that gave pages back; nil for at once: it waits for a quiet moment.
    func pauseOfSpace(after work: StoredWork) -> Milliseconds? {
        guard work.task == .maintenance(.space), group.spaceTurns.isBusy else { return nil }
        return now + SpaceTurns.pauseMilliseconds
    }
}
