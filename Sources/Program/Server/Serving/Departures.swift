import Administration
import Audit
import CloudDatabase
import Dispatch
import Storage
import Synchronization

/// Ends accounts whose owners have asked for it, once the time is over in which they could take it back.
final class Departures: Sendable {
    private static let accountsPerRound = 16

    // Whoever holds the folder stops this before it is closed.
    private let folder: DataFolder
    private let log: Log
    private let stopping = Atomic(false)
    /// Whether what the catalog has deleted may not be overwritten yet; on the queue, or by who alone uses it.
    private nonisolated(unsafe) var isFirst = true
    private let queue = DispatchQueue(label: "lenticular.departures", qos: .utility)
    // Dispatch's own objects may be used from any thread; only their Swift class does not say so.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Begins to look.
    init(_ folder: DataFolder, log: Log, intervalSeconds: Int) {
        self.folder = folder
        self.log = log
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now(), repeating: .seconds(intervalSeconds), leeway: .seconds(5))
        timer.setEventHandler { [weak self] in self?.round() }
        timer.activate()
    }

    /// Ends it, and waits for the transaction that runs; the rest is done after the next start.
    func stop() {
        stopping.store(true, ordering: .relaxed)
        timer.cancel()
        queue.sync {}
    }

    /// Ends the accounts that are due; on the queue, or by who alone uses it.
    func round() {
        do {
            let due = try folder.catalog.dueEndings(
                now: folder.clock.now(), countMax: Self.accountsPerRound)
            for ending in due where !isStopping { try end(ending) }
            // Also what failed in an earlier round, or was cut off by the end of a process.
            guard try isFirst || !folder.users.unfinishedDeletions().isEmpty else { return }
            let done = try UnfinishedDeletions(in: folder, while: { [self] in !isStopping })
                .finish()
            for line in done.left where !due.isEmpty {
                log.warning("something is left of an erased account", [("left", .text(line))])
            }
            isFirst = false
        } catch is ErasePerson.Interrupted {
            log.info("an account's data is removed further after the next start")
        } catch {
            log.error("an account's data could not be removed", [("failure", .text("\(error)"))])
        }
    }

    private var isStopping: Bool { stopping.load(ordering: .relaxed) }

    private func end(_ ending: AccountEnding) throws {
        try folder.noteErasure(of: ending.account, publicRecords: ending.publicRecords)
        try folder.audit.note(
            AuditEntry(
                time: folder.clock.now(), who: "the server", what: "account deletion due",
                account: ending.account.text, detail: ending.publicRecords.rawValue))
        _ = try folder.catalog.delete(ending.account, publicRecords: ending.publicRecords)
        log.info("an account's time was over", [("account", .text(ending.account.text))])
    }
}
