import CloudModel
import Storage

/// Goes through the records of a zone without a query, what changed last first; for those who look a database over.
///
/// It needs no index. What the caller may not see is left out.
package struct BrowseRecords {
    /// One page of records.
    package struct Page: Sendable {
        /// As `records/lookup` answers them.
        package var records: [[UInt8]] = []
        /// Where records are that are not what was written.
        package var damaged = 0
        /// The position behind which the next page begins; nil at the end.
        package var next: Position?
    }

    /// How many rows a page looks at, whatever it finds.
    private static let rowsMax = 10_000
    private static let stepRows = 500

    private let zone: ZoneID
    private let database: Database
    private let type: RecordTypeName?
    private let prefix: String

    /// - Parameters:
    ///   - type: records of this type alone; nil for all.
    ///   - prefix: those alone whose names begin so.
    package init(
        _ zone: ZoneID, of database: Database, type: RecordTypeName? = nil, prefix: String = ""
    ) {
        self.prefix = prefix
        self.zone = zone
        self.database = database
        self.type = type
    }

    /// Blocks: never on an event loop.
    ///
    /// - Parameter before: `next` of the page before; nil for the first.
    /// - Throws: `Fault` ZONE_NOT_FOUND; NOT_FOUND for a record type that does not exist.
    package func page(before: Position?, limit: Int) throws -> Page {
        try database.read { snapshot in
            let lookup = try LookupRecords(in: zone, of: database, snapshot: snapshot)
            let number = try type.map { type in
                guard let number = try snapshot.schema.number(of: type) else {
                    throw Fault.unknownRecordType(type.text)
                }
                return number
            }
            guard let stored = try storedZone(snapshot) else { return Page() }
            var walk = Walk(last: before ?? .max)
            while walk.page.records.count < limit, walk.rows < Self.rowsMax, !walk.isAtEnd {
                let damaged = walk.page.damaged
                let found = try step(stored, number, &walk, snapshot)
                if try append(found, limit, lookup, snapshot, &walk) {
                    // The damaged record behind them, too.
                    walk.page.damaged = damaged
                }
            }
            if !walk.isAtEnd { walk.page.next = walk.last }
            return walk.page
        }
    }

    /// How far a page has come.
    private struct Walk {
        var last: Position
        var rows = 0
        var isAtEnd = false
        var page = Page()
    }

    private func storedZone(_ snapshot: any StoreSnapshot) throws -> StoredZone? {
        database.scope == .shared
            ? try database.access(to: zone, snapshot).zone : try database.zone(zone, snapshot)
    }

    /// The next living records of the type.
    private func step(
        _ zone: StoredZone, _ type: Int64?, _ walk: inout Walk, _ snapshot: any StoreSnapshot
    ) throws -> [(record: RecordNumber, position: Position)] {
        var found: [(record: RecordNumber, position: Position)] = []
        var seen = 0
        do {
            try snapshot.versions(
                in: zone.number, after: 0, through: walk.last - 1, newestFirst: true,
                expected: Self.stepRows
            ) { version in
                guard seen < Self.stepRows else { return false }
                seen += 1
                walk.last = version.position
                if !version.flags.contains(.tombstone), type.map({ $0 == version.type }) ?? true {
                    found.append((version.record, version.position))
                }
                return true
            }
            walk.isAtEnd = seen < Self.stepRows
        } catch let damaged as DamagedVersion {
            walk.page.damaged += 1
            walk.last = damaged.position
        }
        walk.rows += max(1, seen)
        return found
    }

    /// - Returns: whether some are left for the next page.
    private func append(
        _ found: [(record: RecordNumber, position: Position)], _ limit: Int,
        _ lookup: LookupRecords, _ snapshot: any StoreSnapshot, _ walk: inout Walk
    ) throws -> Bool {
        let locations = try snapshot.locations(of: found.map(\.record))
        let scanned = walk.last
        var names: [String] = []
        for (item, location) in zip(found, locations) {
            guard walk.page.records.count + names.count < limit else { break }
            walk.last = item.position
            guard let name = location?.name.text, name.hasPrefix(prefix) else { continue }
            names.append(name)
        }
        // What is left of the step is on the next page.
        let isCut = found.last.map { walk.last > $0.position } ?? false
        if isCut { walk.isAtEnd = false } else { walk.last = scanned }
        for body in try lookup.bodies(named: names) {
            // NB: the caller may not see it, or it is damaged; a lookup by its name says which.
            if case .success(let body) = body { walk.page.records.append(body) }
        }
        return isCut
    }
}
