import CloudModel
import Cryptography
import JSON
import Storage

/// Reads zones: all of a database, or some by name (web-services.md §4.7, §4.8).
package struct ListZones {
    private let database: Database
    private let tokens: SyncTokens
    private let snapshot: any StoreSnapshot

    package init(_ database: Database, key: HMACSHA256, snapshot: any StoreSnapshot) throws {
        self.database = database
        self.tokens = SyncTokens(database, key: key, identity: try snapshot.identity)
        self.snapshot = snapshot
    }

    /// Appends every zone, joined by commas: the default zone first, then the others by name.
    package func appendAll(to writer: inout JSONWriter) throws {
        guard database.scope != .shared else { return try appendViewed(to: &writer) }
        append(nil, isShared: false, to: &writer)
        guard database.scope == .private, let owner = try database.owner(snapshot) else { return }
        let zones = try snapshot.zones(of: owner.number).filter { !$0.name.isDefault }
        let shared = try snapshot.sharedZones(among: zones.map(\.number))
        for zone in zones {
            writer.raw(",")
            append(zone, isShared: shared.contains(zone.number), to: &writer)
        }
    }

    private func appendViewed(to writer: inout JSONWriter) throws {
        guard let viewer = database.caller.userRecordName else { return }
        let views = try snapshot.views(of: viewer, .current)
        let zones = try snapshot.ownedZones(views.map(\.zone))
        let accesses = try ZoneAccess.of(
            viewer, in: views.compactMap { view in zones[view.zone].map { ($0.zone, view) } },
            limits: database.limits, snapshot: snapshot)
        let seen = accesses.compactMap { access in
            zones[access.zone.number].map { (owner: $0.owner, access: access) }
        }
        var isFirst = true
        for (owner, access) in seen.sorted(by: { Self.precedes($0, $1) }) {
            writer.separate(&isFirst)
            append(access, owner: owner, to: &writer)
        }
    }

    /// By the owners' names and then the zones', in the order of code points.
    private static func precedes(
        _ left: (owner: UserRecordName, access: ZoneAccess),
        _ right: (owner: UserRecordName, access: ZoneAccess)
    ) -> Bool {
        guard left.owner == right.owner else {
            return left.owner.text.utf8.lexicographicallyPrecedes(right.owner.text.utf8)
        }
        return left.access.zone.name.text.utf8
            .lexicographicallyPrecedes(right.access.zone.name.text.utf8)
    }

    private func append(
        _ access: ZoneAccess, owner: UserRecordName, to writer: inout JSONWriter
    ) {
        let (zone, view) = (access.zone, access.view)
        let token = tokens.token(.zone, zone: zone, view: view, position: view.changed)
        ZoneJSON.append(
            ListedZone(
                name: zone.name, owner: owner, syncToken: token, isOwn: false,
                isShared: access.wholeZone != nil), to: &writer)
    }

    /// Zones, each as an answer shows it.
    ///
    /// The faults are ZONE_NOT_FOUND, and BAD_REQUEST for another owner's zone.
    package func lookUp(_ ids: [ZoneID]) throws -> [Result<[UInt8], Fault>] {
        if database.scope == .shared {
            return try zip(ids, database.accesses(to: ids, snapshot)).map { id, access in
                access.map { access in
                    var writer = JSONWriter(reserving: 256)
                    append(access, owner: database.owner(of: id), to: &writer)
                    return writer.bytes
                }
            }
        }
        let zones = try database.zones(ids, snapshot)
        let numbers = zones.compactMap { zone in
            if case .success(let stored) = zone { stored?.number } else { nil }
        }
        let shared = try snapshot.sharedZones(among: numbers)
        return zones.map { zone in
            zone.map { zone in
                var writer = JSONWriter(reserving: 256)
                append(
                    zone, isShared: zone.map { shared.contains($0.number) } ?? false, to: &writer)
                return writer.bytes
            }
        }
    }

    /// Appends a zone; nil is the default zone, whether anybody has written to it or not.
    private func append(_ zone: StoredZone?, isShared: Bool, to writer: inout JSONWriter) {
        let name = zone?.name ?? .defaultZone
        let token =
            name.isDefault
            ? nil
            : zone.flatMap { zone in
                zone.changed.map { tokens.token(.zone, zone: zone, position: $0) }
            }
        ZoneJSON.append(
            ListedZone(
                name: name, owner: database.ownerRecordName, syncToken: token,
                isShared: isShared), to: &writer)
    }
}
