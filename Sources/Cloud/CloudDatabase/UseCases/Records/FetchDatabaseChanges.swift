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

    /// - Throws: `Fault` BAD_REQUEST in the public database, which has no feed; what the storage reports.
    package init(
        _ database: Database, key: HMACSHA256, snapshot: any StoreSnapshot
    ) throws {
        try database.refuse(unless: database.scope != .public)
        self.database = database
        self.tokens = SyncTokens(database, key: key, identity: try snapshot.identity)
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
        if database.scope == .shared {
            return try appendViewed(after: token, limit: limit, form: form, to: &writer)
        }
        let owner = try database.owner(snapshot)
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
        for zone in found.prefix(limit) {
            guard let changed = zone.changed,
                !(zone.isDeleted && start.hasNotSeen(deletionAt: changed))
            else { continue }
            writer.separate(&isFirst)
            append(
                Item(
                    name: zone.name, owner: database.ownerRecordName, isGone: zone.isDeleted,
                    syncToken: tokens.token(.zone, zone: zone, position: changed)),
                form, to: &writer)
        }
        var position = found.prefix(limit).last?.changed ?? start.position
        // A client that has seen all zones need not go back before what was forgotten.
        if !more { position = max(position, owner.oldestValidPosition) }
        let cursor: SyncToken.Cursor = more ? start.cursor : .none
        return ZoneChangesPage(
            syncToken: tokens.token(
                .database, zone: nil, position: position, cursor: cursor, from: (start, token)),
            moreComing: more)
    }

    /// The places of the store that change when there may be news in the feed.
    package func watchedParts() throws -> Set<StorePart> {
        guard let user = database.caller.userRecordName else { return [] }
        guard database.scope == .shared else {
            guard let owner = try database.owner(snapshot) else { return [.person(user)] }
            return [.owner(owner.number)]
        }
        var parts: Set<StorePart> = [.person(user)]
        for view in try snapshot.views(of: user, .current) { parts.insert(.zone(view.zone)) }
        return parts
    }

    private func start(_ token: String?, _ owner: StoredOwner?) throws -> SyncToken {
        if let token, !token.isEmpty {
            return try tokens.read(
                token, .database, zone: nil, oldestValidPosition: owner?.oldestValidPosition ?? 0)
        }
        return beginning
    }

    /// The beginning: the client has never seen what is deleted by now.
    private var beginning: SyncToken {
        SyncToken(
            feed: .database, incarnation: tokens.identity.incarnation, zone: ZoneNumber(0),
            zoneHash: 0, position: 0, cursor: .first(through: tokens.identity.last))
    }

    /// The zones of other people that the caller sees.
    ///
    /// A zone counts as deleted once the caller has lost everything in it.
    private func appendViewed(
        after token: String?, limit: Int, form: Form, to writer: inout JSONWriter
    ) throws -> ZoneChangesPage {
        guard let viewer = database.caller.userRecordName else { throw Fault.unknownToken }
        let viewed = try snapshot.viewer(viewer)
        let start =
            if let token, !token.isEmpty {
                try tokens.read(
                    token, .database, zone: nil,
                    oldestValidPosition: viewed.oldestValidPosition)
            } else {
                beginning
            }
        let limit = min(limit, database.limits.recordsPerResponseMax)
        let found = try snapshot.views(
            of: viewer, changedAfter: start.position, limit: limit + 1)
        let more = found.count > limit
        var isFirst = true
        let zones = try snapshot.ownedZones(found.prefix(limit).map(\.zone))
        for view in found.prefix(limit) {
            let isGone = view.ended != nil
            guard !isGone || !start.hasNotSeen(deletionAt: view.changed),
                let (zone, owner) = zones[view.zone]
            else { continue }
            writer.separate(&isFirst)
            append(
                Item(
                    name: zone.name, owner: owner, isGone: isGone,
                    syncToken: tokens.token(
                        .zone, zone: zone, view: view, position: view.changed), isOwn: false),
                form, to: &writer)
        }
        var position = found.prefix(limit).last?.changed ?? start.position
        if !more { position = max(position, viewed.oldestValidPosition) }
        let cursor: SyncToken.Cursor = more ? start.cursor : .none
        return ZoneChangesPage(
            syncToken: tokens.token(
                .database, zone: nil, position: position, cursor: cursor, from: (start, token)),
            moreComing: more)
    }

    /// A zone of the page.
    private struct Item {
        let name: ZoneName
        let owner: UserRecordName
        let isGone: Bool
        let syncToken: String
        var isOwn = true
    }

    private func append(_ zone: Item, _ form: Form, to writer: inout JSONWriter) {
        guard !zone.isGone, form == .zones else {
            writer.raw("{\"zoneID\":")
            writer.raw(ZoneJSON.identifier(zone.name, owner: zone.owner))
            writer.raw(
                zone.isGone ? ",\"deleted\":true,\"reason\":\"DELETED\"}" : ",\"deleted\":false}"
            )
            return
        }
        ZoneJSON.append(
            ListedZone(
                name: zone.name, owner: zone.owner, syncToken: zone.syncToken, isOwn: zone.isOwn),
            to: &writer)
    }
}

extension SyncToken {
    /// Whether a first fetch has never shown a zone that is deleted by now.
    fileprivate func hasNotSeen(deletionAt position: Position) -> Bool {
        guard case .first(let through) = cursor else { return false }
        return position <= through
    }
}
