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

    /// Finds the zone in a snapshot, once for all items.
    ///
    /// - Returns: nil for a default zone that nobody has written to.
    /// - Throws: `Fault` ZONE_NOT_FOUND.
    package func open(_ snapshot: any StoreSnapshot) throws -> StoredZone? {
        try database.zone(zone, snapshot)
    }

    /// What the caller may read in a snapshot, found out once for all items.
    package func access(_ snapshot: any StoreSnapshot) throws -> RecordAccess {
        try RecordAccess(database, database.storage.schema, snapshot)
    }

    /// Appends one record.
    ///
    /// - Returns: the bytes of the stored record.
    /// - Throws: `Fault` for the item, with nothing appended: NOT_FOUND; ACCESS_DENIED for a record
    ///   that the caller may not read, and for every name when he may read no type at all.
    package func append(
        _ item: Item, of zone: StoredZone?, by access: RecordAccess,
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws -> Int {
        guard let zone, let name = RecordName(item.name),
            let head = try snapshot.head(of: name, in: zone.number)
        else { throw Self.missing(access) }
        let found = try snapshot.version(at: head.position, in: zone.number) { version -> Int? in
            // A type that the schema has not got yet is of a save that nobody was told of.
            guard !version.flags.contains(.tombstone), access.knows(version.type) else {
                return nil
            }
            let mayRead = try access.allows(.read, ofType: version.type) {
                try RecordBody.creator(of: version.body)
            }
            guard mayRead else { throw RecordAccess.readRefused }
            try append(version.body, of: name, as: item.rendering, from: snapshot, to: &writer)
            return version.body.count
        }
        guard let found, let bytes = found else { throw Self.missing(access) }
        return bytes
    }

    private static func missing(_ access: RecordAccess) -> Fault {
        access.conceals(.read) ? RecordAccess.readRefused : .recordNotFound
    }

    private func append(
        _ body: UnsafeRawBufferPointer, of name: RecordName, as rendering: RecordRendering,
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws {
        guard database.scope == .public, let user = UserRecord.user(name, in: zone.name) else {
            return try rendering.append(body, to: &writer)
        }
        let roles = try snapshot.assignedRoles(of: user)
            .intersection(database.storage.schema.roles.values)
        try UserRecord.body([UInt8](body), roles: roles).withUnsafeBytes {
            try rendering.append($0, to: &writer)
        }
    }
}
