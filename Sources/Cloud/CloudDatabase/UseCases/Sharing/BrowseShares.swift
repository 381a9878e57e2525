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
            let own = try snapshot.ownShares(of: user, limit: Self.countMax)
            let joined = try snapshot.joinedShares(of: user, limit: Self.countMax - own.count)
            let granted = Set(
                try snapshot.grants(of: user, .shares(joined.map(\.number))).map(\.share))
            let shares = own + joined.filter { granted.contains($0.number) }
            let zones = try snapshot.ownedZones(shares.map(\.zone))
            let roots = try snapshot.recordLocations(shares.compactMap(\.root))
            let shown = ShownShares(snapshot) { shares.map(\.record) }
            var found: [[UInt8]] = []
            try snapshot.current(.records(shares.map(\.record)), inOrder: true) { index, version in
                let share = shares[index]
                // Of a damaged record, a lookup by its name says so.
                guard !version.isDamaged, !version.flags.contains(.tombstone),
                    let (zone, owner) = zones[share.zone]
                else { return true }
                let scope = index < own.count ? DatabaseScope.private : .shared
                var writer = JSONWriter(reserving: 1_024)
                writer.raw("{\"databaseScope\":\"")
                writer.raw(scope == .private ? "PRIVATE" : "SHARED")
                writer.raw("\",\"zoneID\":")
                writer.raw(zone.name.identifierJSON(owner: owner.text))
                if let root = share.root.flatMap({ roots[$0] }) {
                    writer.raw(",\"rootRecordName\":")
                    writer.string(root.name.text)
                }
                writer.raw(",\"share\":")
                try database.seen(in: scope)
                    .append(version, as: .whole, with: shown, to: &writer)
                writer.raw("}")
                found.append(writer.bytes)
                return true
            }
            return found
        }
    }
}
