import CloudModel
import Storage
import Synchronization

/// Removes, some time after an upgrade, the copies that it has made of what it changed.
final class UpgradeCopies: Sendable {
    /// Time enough to find a fault of the newer version; someone so late restores a backup.
    static let daysMax: Milliseconds = 30
    private static let dayMilliseconds: Milliseconds = 86_400_000

    private let folder: DataFolder
    private let log: Log
    private let nextLook = Mutex(Milliseconds.min)

    init(_ folder: DataFolder, log: Log) { (self.folder, self.log) = (folder, log) }

    /// Looks once a day, however often it is called.
    func removeOld() {
        let now = folder.clock.now()
        let isDue = nextLook.withLock { next in
            guard now >= next else { return false }
            next = now + Self.dayMilliseconds
            return true
        }
        guard isDue else { return }
        do {
            let count = try folder.engine.removeCopies(
                madeBefore: now - Self.daysMax * Self.dayMilliseconds)
            guard count > 0 else { return }
            log.info("copies from before an upgrade removed", [("count", .number(Int64(count)))])
        } catch {
            log.warning(
                "copies from before an upgrade not looked at", [("failure", .text("\(error)"))])
        }
    }
}
