import Accounts
import CloudDatabase
import CloudModel
import Storage

/// Removes what the stores hold of accounts that the catalog has deleted.
///
/// Each is an idempotent job: what a crash left undone is done at the next start.
package struct Departures {
    private let data: any ServerData

    package init(in data: any ServerData) { self.data = data }

    /// Does all that are not finished.
    ///
    /// - Throws: what the catalog and the stores report; what was not reached stays to be done.
    package func finish() throws {
        for departure in try data.users.unfinishedDepartures() { try finish(departure) }
    }

    private func finish(_ departure: Departure) throws {
        for place in try data.environments() where place.container == departure.container {
            let store = try data.store(of: place.container, in: place.environment)
            try store.writeAndWait { transaction in
                try UserRecord.remove(departure.userRecordName, from: transaction)
                guard let owner = try transaction.owner(named: departure.userRecordName) else {
                    return
                }
                for zone in try transaction.zones(of: owner.number) {
                    try transaction.deleteZone(zone)
                }
            }
        }
        try data.users.finish(departure)
    }
}
