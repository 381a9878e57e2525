import CloudModel
import Storage

/// Makes sure that users' records of type `Users` exist before they are looked up.
package struct MakeUserRecords: Sendable {
    package let database: Database
    package let users: Set<UserRecordName>

    /// - Parameter users: they must exist; in a private database only the caller counts.
    package init(_ users: Set<UserRecordName>, in database: Database) {
        self.database = database
        self.users = users
    }

    /// Whether the record of one of them does not exist yet.
    package func isDue(_ snapshot: any StoreSnapshot) throws -> Bool {
        guard !users.isEmpty else { return false }
        guard let zone = try database.zone(.defaultZone, snapshot) else { return true }
        return try !UserRecord.missing(users, in: zone, snapshot).isEmpty
    }

    /// Makes the missing records and waits until they are on disk; never on an event loop.
    ///
    /// - Throws: failures of the machinery.
    package func run() throws {
        try database.storage.writeAndWait(
            cost: users.count, frees: false, caller: StoreCaller(database.caller)
        ) { transaction in
            let zone = try database.madeZone(.defaultZone, transaction)
            try UserRecord.makeMissing(users, in: zone, of: database, transaction)
        }
    }
}
