import Accounts
import CloudDatabase
import CloudModel
import Storage

/// Removes what the stores hold of accounts that the catalog has deleted.
///
/// Each is an idempotent job: what a crash left undone is done at the next start.
package struct UnfinishedDeletions {
    private let data: any ServerData

    package init(in data: any ServerData) { self.data = data }

    /// Does all that are not finished.
    ///
    /// - Throws: what the catalog and the stores report; what was not reached stays to be done.
    package func finish() throws {
        for deletion in try data.users.unfinishedDeletions() { try finish(deletion) }
    }

    private func finish(_ deletion: AccountDeletion) throws {
        for place in try data.environments() where place.container == deletion.container {
            let store = try data.store(of: place.container, in: place.environment)
            try store.writeAndWait { transaction in
                try UserRecord.remove(deletion.userRecordName, from: transaction)
                try transaction.deleteSubscriptions(of: deletion.userRecordName)
                try transaction.removeDestinations(of: deletion.userRecordName)
                try ChangeWatch.renew(in: transaction)
                guard let owner = try transaction.owner(named: deletion.userRecordName) else {
                    return
                }
                for zone in try transaction.zones(of: owner.number) {
                    try transaction.deleteZone(zone)
                }
            }
        }
        try data.users.finish(deletion)
    }
}
