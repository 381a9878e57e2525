import CloudModel
import Cryptography
import JSON
import Storage

/// Reads pages of the database feed: which zones changed (web-services.md §4.5, §4.10).
package struct FetchDatabaseChanges {
    /// The shape of the zones in the answer.
    package enum Form: Sendable {
        /// `changes/database`: the zone's name and whether it is gone.
        case changes
        /// `zones/changes`: whole zones.
        case zones
    }

    private let database: Database
    private let tokens: SyncTokens
    private let snapshot: any StoreSnapshot

    /// - Throws: `Fault` BAD_REQUEST in the public database, which has no feed.
    package init(
        _ database: Database, key: HMACSHA256, snapshot: any StoreSnapshot
    ) throws(Fault) {
        try database.refuse(unless: database.scope != .public)
        self.database = database
        self.tokens = SyncTokens(database, key: key)
        self.snapshot = snapshot
    }

    /// Appends one page of zones, joined by commas, to an answer.
    ///
    /// - Parameters:
    ///   - token: nil or empty for all living zones; deletions are not shown then.
    ///   - limit: zones in the page; capped at `ServiceLimits.recordsPerResponseMax`.
    /// - Throws: `Fault` BAD_REQUEST for a bad or expired token.
    package func append(
        after token: String?, limit: Int, form: Form, to writer: inout JSONWriter
    ) throws -> ZoneChangesPage {
        let owner = database.scope == .private ? try database.owner(snapshot) : nil
        let start = try start(token, owner)
        guard let owner else {
            return ZoneChangesPage(
                syncToken: tokens.token(.database, zone: nil, position: start.position),
                moreComing: false)
        }
        let limit = min(limit, database.limits.recordsPerResponseMax)
        let found = try snapshot.zones(
            of: owner.number, changedAfter: start.position, limit: limit + 1)
        let more = found.count > limit
        var isFirst = true
        for zone in found.prefix(limit) where !(zone.isDeleted && start.hasNotSeen(zone)) {
            if !isFirst { writer.raw(",") }
            isFirst = false
            append(zone, form, to: &writer)
        }
        var position = found.prefix(limit).last?.changed ?? start.position
        // What is forgotten lies behind a client that has seen all zones there are.
        if !more { position = max(position, owner.wholeAfter) }
        let cursor: SyncToken.Cursor = more ? start.cursor : .none
        return ZoneChangesPage(
            syncToken: tokens.token(.database, zone: nil, position: position, cursor: cursor),
            moreComing: more)
    }

    private func start(_ token: String?, _ owner: StoredOwner?) throws -> SyncToken {
        if let token, !token.isEmpty {
            return try tokens.read(
                token, .database, zone: nil, wholeAfter: owner?.wholeAfter ?? 0)
        }
        // Whatever is deleted by now, the client has never seen.
        return SyncToken(
            feed: .database, incarnation: database.storage.identity.incarnation,
            zone: ZoneNumber(0), place: 0, position: 0,
            cursor: .first(through: try latest(owner)))
    }

    private func latest(_ owner: StoredOwner?) throws -> Position {
        guard let owner else { return 0 }
        return max(try snapshot.lastChange(of: owner.number), owner.wholeAfter)
    }

    private func append(_ zone: StoredZone, _ form: Form, to writer: inout JSONWriter) {
        let owner = database.ownerRecordName
        guard !zone.isDeleted, form == .zones else {
            writer.raw("{\"zoneID\":")
            writer.raw(ZoneJSON.identifier(zone.name, owner: owner))
            writer.raw(
                zone.isDeleted ? ",\"deleted\":true,\"reason\":\"DELETED\"}" : ",\"deleted\":false}"
            )
            return
        }
        let token = tokens.token(.zone, zone: zone, position: zone.changed)
        ZoneJSON.append(
            ListedZone(name: zone.name, owner: owner, syncToken: token), to: &writer)
    }
}

extension SyncToken {
    /// Whether a first fetch has not shown a zone that is deleted by now.
    fileprivate func hasNotSeen(_ zone: StoredZone) -> Bool {
        guard case .first(let through) = cursor else { return false }
        return zone.changed <= through
    }
}
