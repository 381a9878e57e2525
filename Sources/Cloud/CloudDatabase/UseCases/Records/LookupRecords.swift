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

    /// What a lookup asks for; of a zone that others share, more than this.
    package static func needs(
        _ items: [Item], in zone: ZoneID, of database: Database
    ) -> StoreNeeds {
        var needs = StoreNeeds()
        needs.owner = database.owner(of: zone)
        needs.zone = zone.name
        if database.scope != .private { needs.viewer = database.caller.userRecordName }
        needs.records = items.compactMap { RecordName($0.name) }
        return needs
    }

    /// Appends one record.
    ///
    /// - Throws: `Fault`, with nothing appended, as `append` of several hands to `failed`.
    package func append(_ item: Item, to writer: inout JSONWriter) throws {
        var fault: Fault?
        _ = try append([item], to: &writer, bytesMax: .max, goesOn: { _ in true }) { _, found, _ in
            fault = found
        }
        if let fault { throw fault }
    }

    /// Appends records in their order, joined by commas.
    ///
    /// - Parameters:
    ///   - bytesMax: after so many bytes of stored records, what is left gets `tooLong`.
    ///   - goesOn: gets how many bytes of stored records have been appended, after each; false ends it there.
    ///   - failed: appends the `Fault` of an item: NOT_FOUND; ACCESS_DENIED for a record that the caller may not read,
    ///     and for every name when they may read no type at all; TRY_AGAIN_LATER while nobody can tell whether they
    ///     may, and for what the answer has no room for; INTERNAL_ERROR for a record that is not what was written.
    /// - Returns: false where `goesOn` has ended it.
    package func append(
        _ items: [Item], to writer: inout JSONWriter, bytesMax: Int,
        goesOn: (_ bytes: Int) -> Bool,
        failed: (Item, Fault, inout JSONWriter) -> Void
    ) throws -> Bool {
        var course = Course(bytesMax: bytesMax)
        var isWhole = true
        if let zone {
            let (names, slots) = try names(of: items, in: zone, &course.hidden)
            let roles = try roles(of: names)
            let shares = ShownShares(snapshot) {
                try snapshot.heads(of: names, in: zone.number).compactMap { $0?.record }
            }
            try snapshot.current(of: names, in: zone.number, inOrder: true) { index, version in
                guard !course.isFull, !version.flags.contains(.tombstone) else {
                    return !course.isFull
                }
                let slot = slots[index]
                if course.next < slot {
                    fail(items, from: course.next, through: slot, course, &writer, failed)
                }
                if slot > 0 { writer.raw(",") }
                course.next = slot + 1
                do {
                    try append(
                        version, of: names[index], as: items[slot].rendering, with: shares,
                        roles, to: &writer)
                    course.bytes += version.body.count
                } catch let fault as Fault {
                    failed(items[slot], fault, &writer)
                }
                isWhole = goesOn(course.bytes)
                return isWhole
            }
        }
        if isWhole {
            fail(items, from: course.next, through: items.count, course, &writer, failed)
        }
        return isWhole
    }

    /// How far the records of a lookup have come.
    ///
    /// One value, which nothing but the closure changes that reads: a local function that shares variables with it has
    /// each of their uses checked, for each record.
    private struct Course {
        let bytesMax: Int
        /// The item that comes next.
        var next = 0
        var bytes = 0
        /// The faults of items of which nobody can tell whether the caller sees them.
        var hidden: [Int: Fault] = [:]

        init(bytesMax: Int) { self.bytesMax = bytesMax }

        var isFull: Bool { bytes >= bytesMax }
    }

    /// Appends the faults of items that lead to no record.
    private func fail(
        _ items: [Item], from first: Int, through end: Int, _ course: Course,
        _ writer: inout JSONWriter, _ failed: (Item, Fault, inout JSONWriter) -> Void
    ) {
        for slot in first..<end {
            if slot > 0 { writer.raw(",") }
            let item = items[slot]
            let fault = course.hidden[slot] ?? missing(item.name)
            failed(item, course.isFull ? Self.tooLong : fault, &writer)
        }
    }

    /// The fault of an item for which the answer has no room; in a further request it comes first.
    private static let tooLong = Fault.tryAgainLater(
        "the answer is full (limits.pageBytesMax); look this record up with fewer others",
        seconds: 0)

    /// The names that may lead to records that the caller sees, each with the place of its item.
    ///
    /// - Parameter hidden: gets the faults of items of which nobody can tell that.
    private func names(
        of items: [Item], in zone: StoredZone, _ hidden: inout [Int: Fault]
    ) throws -> (names: [RecordName], slots: [Int]) {
        var names: [RecordName] = []
        var slots: [Int] = []
        names.reserveCapacity(items.count)
        slots.reserveCapacity(items.count)
        for (slot, item) in items.enumerated() {
            guard let name = RecordName(item.name) else { continue }
            names.append(name)
            slots.append(slot)
        }
        guard let shown else { return (names, slots) }
        // Of a record that the caller does not see, no more is read than of a name without a record.
        let heads = try snapshot.heads(of: names, in: zone.number)
        try shown.prepare(heads.compactMap { $0?.record })
        let seen = try names.indices.filter { index in
            guard let head = heads[index] else { return false }
            do { return try shown.sees(head.record) } catch let fault as Fault {
                hidden[slots[index]] = fault
                return false
            }
        }
        return (seen.map { names[$0] }, seen.map { slots[$0] })
    }

    /// The roles of users whose own records are looked up by one who gives roles; nobody else sees them.
    private func roles(of names: [RecordName]) throws -> [UserRecordName: Set<Int64>] {
        guard database.scope == .public, database.caller.passesRoles else { return [:] }
        let users = Array(Set(names.compactMap { UserRecord.user($0, in: id.name) }))
        guard !users.isEmpty else { return [:] }
        let known = Set(try snapshot.schema.roles.values)
        let given = try snapshot.assignedRoles(of: users).map(known.intersection)
        return Dictionary(uniqueKeysWithValues: zip(users, given))
    }

    private func missing(_ name: String) -> Fault {
        // Only the record of a user can have such a name.
        let isUser = id.name.isDefault && UserRecordName(name) != nil
        return access.conceals(.read, type: isUser ? .users : nil)
            ? RecordAccess.readRefused : .recordNotFound
    }

    private func append(
        _ version: StoredVersion, of name: RecordName, as rendering: RecordRendering,
        with shares: ShownShares, _ roles: [UserRecordName: Set<Int64>],
        to writer: inout JSONWriter
    ) throws {
        let mayRead = try access.allows(.read, ofType: version.type) {
            try RecordBody.creator(of: version)
        }
        guard mayRead else { throw RecordAccess.readRefused }
        guard !version.isDamaged else { throw Fault.recordUnreadable }
        guard database.scope == .public, database.caller.passesRoles,
            let user = UserRecord.user(name, in: id.name)
        else {
            return try database.append(version, as: rendering, with: shares, to: &writer)
        }
        try UserRecord.body([UInt8](version.body), roles: roles[user] ?? []).withUnsafeBytes {
            try rendering.append(
                $0, flags: version.flags, assets: database.assetLinks(of: version.record),
                to: &writer)
        }
    }
}
