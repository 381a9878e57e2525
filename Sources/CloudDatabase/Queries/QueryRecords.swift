import CloudModel
import Cryptography
import JSON
import Storage

/// Finds records by what is in them (web-services.md §4.1, rulings.md 21-24).
///
/// A page sees every write that was acknowledged before it began. It blocks: never run it on an event
/// loop.
package struct QueryRecords {
    private let request: QueryRequest
    private let database: Database
    private let key: HMACSHA256

    /// - Parameters:
    ///   - request: a query that the schema allows.
    ///   - key: prepared from the store's token key.
    /// - Throws: `Fault` for a zone that this database cannot have.
    package init(
        _ request: QueryRequest, of database: Database, key: HMACSHA256
    ) throws(Fault) {
        if let zone = request.zone { try database.check(zone) }
        self.request = request
        self.database = database
        self.key = key
    }

    /// Appends one page's records, joined by commas, to an answer.
    ///
    /// - Returns: the marker of the next page; nil when this is the last one.
    /// - Throws: `Fault` ZONE_NOT_FOUND; NOT_FOUND for a record type that does not exist; ACCESS_DENIED
    ///   for one of which the caller may read no record (rulings.md 6); BAD_REQUEST
    ///   for a marker of another query, or when too many records must be looked at
    ///   (`limits.queryRowsMax`); TRY_AGAIN_LATER while an index is being built, or when it takes too
    ///   long (`limits.queryMillisecondsMax`).
    package func append(to writer: inout JSONWriter) throws -> String? {
        let start = writer.bytes.count
        return try database.storage.read(loop: nil) { snapshot in
            writer.bytes.removeLast(writer.bytes.count - start)
            return try append(from: snapshot, to: &writer)
        }
    }

    private func append(
        from snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws -> String? {
        guard let type = try snapshot.recordTypes()[request.query.type.text] else {
            throw Fault(.notFound, "Did not find record type: \(request.query.type.text)")
        }
        let access = try access(snapshot)
        let viewed = try viewed(snapshot)
        let zones = try zones(snapshot)
        let markers = QueryMarkers(
            request.query, zone: request.zone == nil ? nil : zones.first?.number ?? ZoneNumber(0),
            of: database, key: key)
        let marker = try request.continuationMarker.flatMap { $0.isEmpty ? nil : $0 }
            .map { try markers.read($0) }
        let order = QueryOrder(sorts: request.query.sorts)
        var found: [(place: QueryPlace, flags: VersionFlags, body: [UInt8])] = []
        for zone in zones {
            let tests = try request.query.filters.map {
                try FilterTest($0, in: zone.name, tokens: Self.words)
            }
            try snapshot.versions(in: zone.number, after: 0, through: .max, newestFirst: false) {
                guard $0.type == type, !$0.flags.contains(.tombstone),
                    try viewed?.sees($0.record) ?? true
                else { return true }
                let fields = try StoredFields($0.body)
                guard try access.shows($0.record, by: fields.creator, snapshot) else { return true }
                guard try tests.allSatisfy({ try $0.holds(for: fields) }) else { return true }
                let place = QueryPlace(keys: order.keys(of: fields), record: $0.record)
                if let marker, !order.precedes(marker.place, place) { return true }
                found.append((place, $0.flags, [UInt8]($0.body)))
                return true
            }
        }
        found.sort { order.precedes($0.place, $1.place) }
        let page = found.prefix(min(request.resultsLimit, database.limits.recordsPerResponseMax))
        var isFirst = true
        for item in page {
            if !isFirst { writer.raw(",") }
            isFirst = false
            try item.body.withUnsafeBytes {
                try database.append(
                    item.place.record, item.flags, $0, as: request.rendering, from: snapshot,
                    to: &writer)
            }
        }
        guard page.count < found.count, let last = page.last else { return nil }
        return markers.text(
            QueryMarker(source: QuerySource(kind: .sorted, filter: nil), place: last.place))
    }

    /// Which records the caller may read: in the public database, as the grants of the type say.
    private func access(_ snapshot: any StoreSnapshot) throws -> QueryAccess {
        guard database.scope == .public else { return request.access }
        return try RecordAccess(database, database.storage.schema, snapshot)
            .queried(request.query.type)
    }

    /// What the caller is shown of another user's zone; nil in other databases.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER while a shared tree is being worked through: what is found
    ///   would be taken for all there is.
    private func viewed(_ snapshot: any StoreSnapshot) throws -> ZoneAccess? {
        guard database.scope == .shared, let zone = request.zone else { return nil }
        let access = try database.access(to: zone, snapshot)
        try access.requireSettled()
        return access
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// The zones that are asked, each alive; none for a default zone that nobody has written to.
    private func zones(_ snapshot: any StoreSnapshot) throws -> [StoredZone] {
        if let zone = request.zone { return try database.zone(zone, snapshot).map { [$0] } ?? [] }
        guard let owner = try database.owner(snapshot) else { return [] }
        return try snapshot.zones(of: owner.number)
    }
}
