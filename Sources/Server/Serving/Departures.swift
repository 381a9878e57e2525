import Accounts
import CloudDatabase
import CloudModel
import Storage

/// Removes what the stores hold of accounts that the catalog has deleted.
///
/// Each is an idempotent job: what a crash left undone is done at the next start.
struct Departures {
    let users: Users
    let stores: Stores

    /// Does all that are not finished.
    ///
    /// - Throws: what the catalog and the stores report; what was not reached stays to be done.
    func finish() throws {
        for departure in try users.unfinishedDepartures() { try finish(departure) }
    }

    private func finish(_ departure: Departure) throws {
        for key in try stores.existing() where key.container == departure.container {
            let store = try stores.store(of: key.container, in: key.environment)
            try store.writeAndWait { transaction in
                try UserRecord.remove(departure.userRecordName, from: transaction)
                try transaction.deleteSubscriptions(of: departure.userRecordName)
                guard let owner = try transaction.owner(named: departure.userRecordName) else {
                    return
                }
                for zone in try transaction.zones(of: owner.number) {
                    try transaction.deleteZone(zone)
                }
            }
        }
        try users.finish(departure)
    }
}
