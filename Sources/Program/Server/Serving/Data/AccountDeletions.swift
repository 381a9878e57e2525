import Administration
import Audit
import Background
import CloudDatabase
import CloudModel
import Storage

/// Deletes accounts whose owners have asked for it, once they can no longer take it back.
final class AccountDeletions: Sendable {
    private static let accountsPerRound = 16
    /// How long the process is left alone with it that does it for all.
    private static let othersMilliseconds: Milliseconds = 5_000

    // The owner of the folder stops this before it closes the folder.
    private let folder: DataFolder
    private let log: Log
    /// Whether what the catalog has deleted may not be overwritten yet; used in a look, or before the runner
    /// starts.
    private nonisolated(unsafe) var isFirst = true
    private let runner: Runner

    /// Begins to look.
    init(_ folder: DataFolder, log: Log, intervalSeconds: Int) {
        self.folder = folder
        self.log = log
        runner = Runner("lenticular.account-deletions") { error in
            log.error("an account's data could not be removed", [("failure", .text("\(error)"))])
        }
        runner.use { [weak self] in
            guard let self else { return .never }
            guard self.folder.engine.processes.leads else {
                return .later(milliseconds: Self.othersMilliseconds)
            }
            try self.round()
            return .later(milliseconds: Milliseconds(intervalSeconds) * 1_000)
        }
        runner.wake()
    }

    /// Ends it, and waits for the transaction that runs; the rest is done after the next start.
    func stop() { runner.stop() }

    /// Ends the accounts that are due, while this process does it for all; in a look, or by who alone uses it.
    func round() throws {
        guard let lease = folder.engine.processes.lead else { return }
        do {
            let due = try folder.catalog.dueEndings(
                now: folder.clock.now(), countMax: Self.accountsPerRound)
            for ending in due where !runner.isStopped { try end(ending, by: lease) }
            // Also what failed in an earlier round, or was cut off by the end of a process.
            let isSome = try !folder.users.unfinishedDeletions(ListRequest(limit: 1)).items.isEmpty
            guard isFirst || isSome else { return }
            let done = try UnfinishedDeletions(in: folder, while: { [self] in !runner.isStopped })
                .finish()
            for line in done.left where !due.isEmpty {
                log.warning("something is left of an erased account", [("left", .text(line))])
            }
            isFirst = false
        } catch is StoreLease.Lost {
            // Another process does it by now.
        } catch is ErasePerson.Interrupted {
            log.info("an account's data is removed further after the next start")
        }
    }

    /// Begins the deletion before the ledger has it: what is noted there is erased again after each restore.
    private func end(_ ending: AccountEnding, by lease: LeaderLease) throws {
        guard try folder.accountUseCases.endings.begin(ending) else { return }
        try folder.noteErasure(of: ending.account, publicRecords: ending.publicRecords)
        try folder.audit.note(
            AuditEntry(
                time: folder.clock.now(), who: "the server", what: "account deletion due",
                account: ending.account.text, detail: ending.publicRecords.rawValue))
        _ = try folder.catalog.delete(
            ending.account, publicRecords: ending.publicRecords, by: lease)
        log.info("an account's time was over", [("account", .text(ending.account.text))])
    }
}
