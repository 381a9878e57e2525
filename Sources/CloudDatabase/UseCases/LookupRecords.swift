import CloudModel
import JSON
import Storage

/// Reads records by name (web-services.md §4.3).
package struct LookupRecords: Sendable {
    /// One record asked for.
    package struct Item: Sendable {
        package let name: String
        package let rendering: RecordRendering

        package init(name: String, rendering: RecordRendering) {
            self.name = name
            self.rendering = rendering
        }
    }

    package let database: Database
    package let zone: ZoneID

    package init(in zone: ZoneID, of database: Database) throws(Fault) {
        try database.check(zone)
        self.database = database
        self.zone = zone
    }

    /// A zone as the caller may read it.
    package struct Place {
        /// Nil for a default zone that nobody has written to.
        let zone: StoredZone?
        /// What he is shown of another user's zone.
        let access: ZoneAccess?
    }

    /// Finds the zone in a snapshot, once for all items.
    ///
    /// - Throws: `Fault` ZONE_NOT_FOUND.
    package func open(_ snapshot: any StoreSnapshot) throws -> Place {
        guard database.scope == .shared else {
            return Place(zone: try database.zone(zone, snapshot), access: nil)
        }
        let access = try database.access(to: zone, snapshot)
        return Place(zone: access.zone, access: access)
    }

    /// Appends one record.
    ///
    /// - Returns: the bytes of the stored record; nil when there is none, a deleted one, or one that
    ///   the caller may not see.
    /// - Throws: `Fault` TRY_AGAIN_LATER while it cannot be told whether he may.
    package func append(
        _ item: Item, of place: Place, from snapshot: any StoreSnapshot,
        to writer: inout JSONWriter
    ) throws -> Int? {
        guard let zone = place.zone, let name = RecordName(item.name),
            let head = try snapshot.head(of: name, in: zone.number)
        else { return nil }
        if let access = place.access, try !access.sees(head.record) { return nil }
        let found = try snapshot.version(at: head.position, in: zone.number) { version -> Int? in
            guard !version.flags.contains(.tombstone) else { return nil }
            try database.append(
                version.record, version.flags, version.body, as: item.rendering, from: snapshot,
                to: &writer)
            return version.body.count
        }
        return found ?? nil
    }
}
