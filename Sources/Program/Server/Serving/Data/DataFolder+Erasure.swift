import Administration
import CloudDatabase
import CloudModel
import Storage

// The people who were erased, and what is left of them.
extension DataFolder {
    package func noteErasure(of account: AccountID, publicRecords: PublicRecordsFate) throws {
        try ledgerLock.withLock { _ in
            try ErasureLedger(in: path).add([
                ErasureLedger.Entry(
                    moment: clock.now(), account: account, publicRecords: publicRecords)
            ])
        }
        try exchangeErasures()
    }

    /// Has the ledgers of all processes that share a database hold the same; does nothing where there is one.
    ///
    /// - Throws: what the file system and the database report.
    func exchangeErasures() throws {
        guard let shared = sharedErasures else { return }
        try ledgerLock.withLock { _ in
            let ledger = ErasureLedger(in: path)
            try ledger.add(ErasureLedger.entries(shared(ledger.entries().map(\.line))))
        }
    }

    /// Deletes the accounts that were erased before and are there again, as an older backup brings them.
    ///
    /// - Returns: how many there were; what the stores hold of them is among the unfinished deletions.
    func deleteErasedAgain() throws -> Int {
        try exchangeErasures()
        var count = 0
        for entry in try ErasureLedger(in: path).entries() {
            guard try catalog.account(entry.account) != nil else { continue }
            _ = try catalog.delete(entry.account, publicRecords: entry.publicRecords)
            count += 1
        }
        return count
    }

    package func overwriteDeleted(
        in target: ContainerEnvironment, while goesOn: @Sendable () -> Bool
    ) throws {
        let key = StoreKey(target.container, target.environment)
        do {
            let store = try stores.store(of: target.container, in: target.environment)
            try withExtendedLifetime(store) {
                try engine.overwriteDeleted(in: .store(key), while: goesOn)
            }
        } catch is OverwritingEnded {
            throw ErasePerson.Interrupted()
        }
    }

    package func overwriteDeletedInCatalog(while goesOn: @Sendable () -> Bool) throws {
        do {
            try engine.overwriteDeleted(in: .catalog, while: goesOn)
        } catch is OverwritingEnded {
            throw ErasePerson.Interrupted()
        }
    }
}
