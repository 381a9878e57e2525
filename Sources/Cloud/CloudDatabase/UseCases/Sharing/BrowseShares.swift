import CloudModel
import JSON
import Storage

/// Goes through a user's shares, those of their own zones and those that they have joined, for those who look a
/// database over.
///
/// - Limits: `countMax` of both together.
package struct BrowseShares {
    package static let countMax = 1_000

    private let user: UserRecordName
    private let database: Database

    /// - Parameter database: any of the user's.
    package init(of user: UserRecordName, in database: Database) {
        self.user = user
        self.database = database
    }

    /// Each share as its user sees it, with its zone and the record that is shared; own ones first.
    ///
    /// A share that cannot be read now is left out.
    package func run() throws -> [[UInt8]] {
        try database.read { snapshot in
            var found: [[UInt8]] = []
            if let owner = try snapshot.owner(named: user) {
                for zone in try snapshot.zones(of: owner.number) where found.count < Self.countMax {
                    let shares = try snapshot.shares(
                        in: zone.number, limit: Self.countMax - found.count)
                    found += try shares.compactMap {
                        try entry($0, ZoneID(name: zone.name), owner: user, .private, snapshot)
                    }
                }
            }
            for (number, participant) in try snapshot.participations(of: user)
            where participant.status == .accepted && participant.role != .owner {
                guard found.count < Self.countMax else { break }
                guard let share = try snapshot.share(number), share.ended == nil,
                    let zone = try snapshot.zone(share.zone),
                    let owner = try snapshot.ownerName(zone.owner)
                else { continue }
                let id = ZoneID(name: zone.name, owner: owner)
                if let entry = try entry(share, id, owner: owner, .shared, snapshot) {
                    found.append(entry)
                }
            }
            return found
        }
    }

    private func entry(
        _ share: StoredShare, _ zone: ZoneID, owner: UserRecordName, _ scope: DatabaseScope,
        _ snapshot: any StoreSnapshot
    ) throws -> [UInt8]? {
        guard let record = try snapshot.location(of: share.record) else { return nil }
        let root = try share.root.flatMap { try snapshot.location(of: $0) }
        var writer = JSONWriter(reserving: 1_024)
        writer.raw("{\"databaseScope\":\"")
        writer.raw(scope == .private ? "PRIVATE" : "SHARED")
        writer.raw("\",\"zoneID\":")
        writer.raw(zone.name.identifierJSON(owner: owner.text))
        if let root {
            writer.raw(",\"rootRecordName\":")
            writer.string(root.name.text)
        }
        writer.raw(",\"share\":")
        do {
            try LookupRecords(in: zone, of: database.seen(in: scope), snapshot: snapshot).append(
                LookupRecords.Item(name: record.name.text, rendering: .whole), to: &writer)
        } catch is Fault {
            // NB: its record is damaged; a lookup by its name says so.
            return nil
        }
        writer.raw("}")
        return writer.bytes
    }
}
