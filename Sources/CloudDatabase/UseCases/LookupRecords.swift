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

    /// What the caller may read in a snapshot, found out once for all items.
    package func access(_ snapshot: any StoreSnapshot) throws -> RecordAccess {
        try RecordAccess(database, snapshot)
    }

    /// Appends one record.
    ///
    /// - Returns: the bytes of the stored record.
    /// - Throws: `Fault` for the item, with nothing appended: NOT_FOUND; ACCESS_DENIED for a record
    ///   that the caller may not read, and for every name when he may read no type at all;
    ///   TRY_AGAIN_LATER while it cannot be told whether he may.
    package func append(
        _ item: Item, of place: Place, by access: RecordAccess,
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws -> Int {
        guard let zone = place.zone, let name = RecordName(item.name) else {
            throw missing(item.name, access)
        }
        if let shown = place.access {
            // No more is read of what is not theirs than of what is not there.
            guard let head = try snapshot.head(of: name, in: zone.number),
                try shown.sees(head.record)
            else { throw missing(item.name, access) }
        }
        let found = try snapshot.current(of: name, in: zone.number) { version -> Int? in
            guard !version.flags.contains(.tombstone) else { return nil }
            let mayRead = try access.allows(.read, ofType: version.type) {
                try RecordBody.creator(of: version.body)
            }
            guard mayRead else { throw RecordAccess.readRefused }
            try append(version, of: name, as: item.rendering, from: snapshot, to: &writer)
            return version.body.count
        }
        guard let found, let bytes = found else { throw missing(item.name, access) }
        return bytes
    }

    private func missing(_ name: String, _ access: RecordAccess) -> Fault {
        // Such a name can be a user's only.
        let isUser = zone.name.isDefault && UserRecordName(name) != nil
        return access.conceals(.read, type: isUser ? .users : nil)
            ? RecordAccess.readRefused : .recordNotFound
    }

    private func append(
        _ version: StoredVersion, of name: RecordName, as rendering: RecordRendering,
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws {
        guard database.scope == .public, database.caller.passesRoles,
            let user = UserRecord.user(name, in: zone.name)
        else {
            return try database.append(
                version.record, version.flags, version.body, as: rendering, from: snapshot,
                to: &writer)
        }
        let roles = try snapshot.assignedRoles(of: user)
            .intersection(snapshot.schema.roles.values)
        try UserRecord.body([UInt8](version.body), roles: roles).withUnsafeBytes {
            try rendering.append(
                $0, flags: version.flags, assets: database.assetLinks(of: version.record),
                to: &writer)
        }
    }
}
