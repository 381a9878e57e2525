import CloudModel
import Cryptography
import Storage

/// Hands out addresses for uploads of assets (web-services.md §4.13).
///
/// Whether the caller may save the record is decided only when they save it.
package struct RequestAssetUploads: Sendable {
    private let database: Database
    private let zone: ZoneID

    /// - Throws: `Fault` for a zone that this database cannot have.
    package init(in zone: ZoneID, of database: Database) throws(Fault) {
        try database.check(zone)
        self.database = database
        self.zone = zone
    }

    /// Makes sure that the zone exists.
    ///
    /// - Throws: `Fault` ZONE_NOT_FOUND.
    package func check(in snapshot: any StoreSnapshot) throws {
        _ = try database.zone(zone, snapshot)
    }

    /// A URL for one upload.
    ///
    /// - Throws: `Fault` ACCESS_DENIED for a caller who can save nothing.
    package func uploadURL(random: RandomSource) throws(Fault) -> String {
        guard let access = database.assets, let user = database.caller.userRecordName else {
            throw Fault(.accessDenied, "CREATE operation not permitted")
        }
        return access.tokens.uploadURL(
            identity: access.tokens.identity(database.scope, user),
            origin: access.origin.at(database.sharedItem(zone)), now: access.now, random: random)
    }
}
