import CloudModel
import Storage

/// Sees to it that users' records of type `Users` are there before they are looked up.
package struct MakeUserRecords: Sendable {
    package let database: Database
    package let users: Set<UserRecordName>

    /// - Parameter users: who exist; in a private database nobody but the caller.
    package init(_ users: Set<UserRecordName>, in database: Database) {
        self.database = database
        self.users = users
    }

    /// Whether somebody's record is not there yet.
    package func isDue(_ snapshot: any StoreSnapshot) throws -> Bool {
        guard !users.isEmpty else { return false }
        guard let zone = try database.zone(.defaultZone, snapshot) else { return true }
        return try users.contains { try !UserRecord.exists($0, in: zone, snapshot) }
    }

    /// Makes what is missing, and waits until it is on disk; never on an event loop.
    ///
    /// - Throws: failures of the machinery.
    package func run() throws {
        try database.storage.writeAndWait(
            cost: users.count, frees: false, caller: WriteCaller(database.caller)
        ) { transaction in
            let zone = try database.madeZone(.defaultZone, transaction)
            try UserRecord.makeMissing(users, in: zone, of: database, transaction)
        }
    }
}
