import CloudModel
import JSON
import Storage

/// Reads records of one zone by name (web-services.md §4.3).
package struct LookupRecords {
    /// One record asked for.
    package struct Item: Sendable {
        package let name: String
        package let rendering: RecordRendering

        package init(name: String, rendering: RecordRendering) {
            self.name = name
            self.rendering = rendering
        }
    }

    private let database: Database
    private let id: ZoneID
    private let snapshot: any StoreSnapshot
    /// The zone; nil for a default zone that nobody has written to.
    private let zone: StoredZone?
    /// What the caller sees of another user's zone; nil for a zone of their own.
    private let shown: ZoneAccess?
    /// What the caller may read, by the types of records.
    private let access: RecordAccess

    /// - Throws: `Fault` ZONE_NOT_FOUND, and for a zone that this database cannot have.
    package init(in zone: ZoneID, of database: Database, snapshot: any StoreSnapshot) throws {
        try database.check(zone)
        self.database = database
        self.snapshot = snapshot
        id = zone
        shown = database.scope == .shared ? try database.access(to: zone, snapshot) : nil
        self.zone = try shown?.zone ?? database.zone(zone, snapshot)
        access = try RecordAccess(database, snapshot)
    }

    /// Appends one record.
    ///
    /// - Returns: how many bytes the stored record has.
    /// - Throws: `Fault` for the item, with nothing appended: NOT_FOUND; ACCESS_DENIED for a record that the
    ///   caller may not read, and for every name when they may read no type at all; TRY_AGAIN_LATER while
    ///   nobody can tell whether they may; INTERNAL_ERROR for a record that is not what was written.
    package func append(_ item: Item, to writer: inout JSONWriter) throws -> Int {
        guard let zone, let name = RecordName(item.name) else { throw missing(item.name) }
        if let shown {
            // For a record that the caller does not see, it reads no more than for a name without a record.
            guard let head = try snapshot.head(of: name, in: zone.number),
                try shown.sees(head.record)
            else { throw missing(item.name) }
        }
        let found = try snapshot.current(of: name, in: zone.number) { version -> Int? in
            guard !version.flags.contains(.tombstone) else { return nil }
            let mayRead = try access.allows(.read, ofType: version.type) {
                try RecordBody.creator(of: version)
            }
            guard mayRead else { throw RecordAccess.readRefused }
            guard !version.isDamaged else { throw Fault.recordUnreadable }
            try append(version, of: name, as: item.rendering, to: &writer)
            return version.body.count
        }
        guard let found, let bytes = found else { throw missing(item.name) }
        return bytes
    }

    private func missing(_ name: String) -> Fault {
        // Only the record of a user can have such a name.
        let isUser = id.name.isDefault && UserRecordName(name) != nil
        return access.conceals(.read, type: isUser ? .users : nil)
            ? RecordAccess.readRefused : .recordNotFound
    }

    private func append(
        _ version: StoredVersion, of name: RecordName, as rendering: RecordRendering,
        to writer: inout JSONWriter
    ) throws {
        guard database.scope == .public, database.caller.passesRoles,
            let user = UserRecord.user(name, in: id.name)
        else {
            return try database.append(version, as: rendering, from: snapshot, to: &writer)
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
