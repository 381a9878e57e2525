import CloudModel
import Cryptography
import JSON
import Storage

/// Reads pages of zone feeds (web-services.md §4.6, rulings.md 27-31).
///
/// The feed holds each record once, at its last change. A page ends when it has enough records, when the
/// answer has enough bytes, or when it has looked at as many rows as it may.
package struct FetchZoneChanges {
    private let database: Database
    private let tokens: SyncTokens
    private let snapshot: any StoreSnapshot
    private let types: TypeNumbers
    /// What the caller may read of the public database; nil in other databases.
    private let rights: RecordAccess?

    /// - Parameters:
    ///   - key: prepared from the store's token key.
    ///   - servesPublic: whether the container lets clients follow its public database.
    /// - Throws: `Fault` BAD_REQUEST in the public database if `servesPublic` is false: it has no feed then.
    package init(
        _ database: Database, key: HMACSHA256, snapshot: any StoreSnapshot,
        servesPublic: Bool = false
    ) throws {
        try database.refuse(unless: database.scope != .public || servesPublic)
        rights =
            database.scope == .public
            ? try RecordAccess(database, snapshot) : nil
        self.database = database
        self.tokens = SyncTokens(database, key: key, identity: try snapshot.identity)
        self.snapshot = snapshot
        self.types = TypeNumbers(snapshot)
    }

    /// Appends one page's records, joined by commas, to an answer.
    ///
    /// - Parameter budget: what the answer may still take; at least one record is shown while it is
    ///   not used up.
    /// - Throws: `Fault` for the zone: ZONE_NOT_FOUND, BAD_REQUEST for a default zone or a bad token.
    package func append(
        _ request: ZoneChangesRequest, to writer: inout JSONWriter, budget: inout PageBudget
    ) throws -> ZoneChangesPage {
        try database.check(request.zone)
        guard !request.zone.name.isDefault || database.scope == .public else {
            throw Fault.badRequest("cannot get changes in default zone")
        }
        guard let followed = try followedZone(request.zone) else {
            // Nobody has written to the public database yet: its feed begins with its zone.
            return ZoneChangesPage(syncToken: "", moreComing: false)
        }
        var page = try append(request, followed, to: &writer, &budget)
        if !page.moreComing { page.clientToken = try clientToken(request, followed) }
        return page
    }

    private func append(
        _ request: ZoneChangesRequest, _ followed: FollowedZone, to writer: inout JSONWriter,
        _ budget: inout PageBudget
    ) throws -> ZoneChangesPage {
        let start = try start(request, in: followed)
        var page = try append(request, followed, from: start, to: &writer, &budget)
        if request.syncToken?.isEmpty == false { page.from = start.position }
        return page
    }

    private func append(
        _ request: ZoneChangesRequest, _ followed: FollowedZone, from start: SyncToken,
        to writer: inout JSONWriter, _ budget: inout PageBudget
    ) throws -> ZoneChangesPage {
        guard !budget.isExhausted else {
            let unmoved = tokens.token(
                .zone, zone: followed.zone, view: followed.access?.view, position: start.position,
                cursor: start.cursor)
            return ZoneChangesPage(syncToken: unmoved, moreComing: true, to: start.position)
        }
        if let access = followed.access, access.wholeZone == nil {
            var page = try FeedPage(
                request, types: types, rights: rights, database: database, budget: budget)
            let feed = try SharedTreesFeed(
                access, owner: database.owner(of: request.zone), tokens: tokens, types: types,
                snapshot: snapshot)
            defer { page.settle(&budget) }
            return try feed.append(from: start, to: &writer, &page)
        }
        return request.newestFirst
            ? try appendNewestFirst(request, followed, start, &writer, &budget)
            : try appendOldestFirst(request, followed, start, &writer, &budget)
    }

    /// The data that the asking device stored with its last change of the zone.
    private func clientToken(
        _ request: ZoneChangesRequest, _ followed: FollowedZone
    ) throws -> [UInt8]? {
        guard let device = request.device, let user = database.caller.userRecordName,
            database.scope != .public
        else { return nil }
        return try snapshot.clientToken(
            ClientTokenKey(zone: followed.zone.number, user: user, device: device))
    }

    /// A zone of the caller's own, or one that is shared with them.
    private struct FollowedZone {
        let zone: StoredZone
        var access: ZoneAccess?
        /// The position of the zone's last change.
        let end: Position
        let oldestValidPosition: Position

        /// The position at which the feed ends now.
        var changed: Position { max(end, access?.view.since ?? 0) }

        /// A client that begins now does not know of deletions up to here.
        ///
        /// A viewer of trees learns nothing of the rest of the zone, not even when it changed last.
        var beginning: Position {
            guard let access else { return changed }
            return access.wholeZone == nil
                ? access.view.changed : max(changed, access.view.changed)
        }
    }

    /// - Returns: nil for a public default zone that does not exist yet.
    private func followedZone(_ id: ZoneID) throws -> FollowedZone? {
        if database.scope == .shared {
            let access = try database.access(to: id, snapshot)
            let oldestValidPosition = access.wholeZone == nil ? 0 : access.zone.oldestValidPosition
            return FollowedZone(
                zone: access.zone, access: access, end: access.zone.changed ?? 0,
                oldestValidPosition: max(access.view.oldestValidPosition, oldestValidPosition))
        }
        guard let zone = try database.zone(id, snapshot) else { return nil }
        let end = try database.scope == .public ? lastChange(of: zone) : zone.changed ?? 0
        return FollowedZone(zone: zone, end: end, oldestValidPosition: zone.oldestValidPosition)
    }

    /// The end of a default zone's feed; the zone itself does not store it.
    private func lastChange(of zone: StoredZone) throws -> Position {
        var last = zone.oldestValidPosition
        do {
            try snapshot.versions(
                in: zone.number, after: last, through: .max, newestFirst: true, expected: 1
            ) {
                last = $0.position
                return false
            }
        } catch let damaged as DamagedVersion {
            // NB: the page that gets as far as it tells of it.
            last = damaged.position
        }
        return last
    }

    /// The places of the store that change when there may be news in a zone's feed.
    package func watchedParts(of id: ZoneID) throws -> Set<StorePart> {
        guard let followed = try followedZone(id) else { return [] }
        var parts: Set<StorePart> = [.zone(followed.zone.number)]
        if let viewer = followed.access?.viewer { parts.insert(.person(viewer)) }
        return parts
    }

    /// The token with which a client goes on after all that the snapshot holds of a zone's feed.
    ///
    /// - Returns: nil for a zone that has no feed.
    /// - Throws: `Fault` ZONE_NOT_FOUND.
    func currentToken(of id: ZoneID) throws -> String? {
        guard !id.name.isDefault || database.scope == .public, let followed = try followedZone(id)
        else {
            return nil
        }
        return tokens.token(
            .zone, zone: followed.zone, view: followed.access?.view, position: followed.beginning)
    }

    /// Appends the zone's ID as answers have it.
    package func appendZoneID(of zone: ZoneID, to writer: inout JSONWriter) {
        writer.raw(ZoneJSON.identifier(zone.name, owner: database.owner(of: zone)))
    }

    private func start(_ request: ZoneChangesRequest, in followed: FollowedZone) throws -> SyncToken
    {
        let (zone, view) = (followed.zone, followed.access?.view)
        if let text = request.syncToken, !text.isEmpty {
            return try tokens.read(
                text, .zone, zone: zone, view: view,
                oldestValidPosition: followed.oldestValidPosition)
        }
        return SyncToken(
            feed: .zone, incarnation: tokens.identity.incarnation, zone: zone.number,
            zoneHash: 0, position: 0,
            cursor: .first(through: followed.beginning))
    }

    private func appendOldestFirst(
        _ request: ZoneChangesRequest, _ followed: FollowedZone, _ start: SyncToken,
        _ writer: inout JSONWriter, _ budget: inout PageBudget
    ) throws -> ZoneChangesPage {
        let zone = followed.zone
        let shares = ShownShares.inFeed(of: zone.number, snapshot)
        var page = try FeedPage(
            request, types: types, rights: rights, database: database, budget: budget)
        let unseenThrough: Position =
            switch start.cursor {
            case .none: 0
            case .first(let through): through
            // A client that changes direction in the middle begins again where it began.
            case .reverse(_, let until): start.position == 0 ? until : 0
            case .inside: 0
            }
        var position = max(start.position, zone.created)
        var more = false
        if position < followed.changed {
            let isCutShort = try scan(
                request, zone, after: start.position, through: followed.changed,
                expected: page.roomForRecords + 1
            ) { version in
                guard try page.hasRoom(for: version) else {
                    more = true
                    return false
                }
                // Else a client would go on behind a change that it has not been told of.
                guard version.position > position else {
                    throw BrokenInvariant(
                        "a feed tells changes in their order: \(version.position) after \(position)"
                    )
                }
                try page.append(
                    version, skipsDeletionsThrough: unseenThrough, with: shares, to: &writer)
                position = version.position
                return true
            }
            if isCutShort { more = true }
            if !more { position = followed.changed }
        }
        page.settle(&budget)
        let cursor: SyncToken.Cursor =
            more && position < unseenThrough ? .first(through: unseenThrough) : .none
        return ZoneChangesPage(
            syncToken: tokens.token(
                .zone, zone: zone, view: followed.access?.view, position: position, cursor: cursor,
                from: (start, request.syncToken)),
            moreComing: more, to: position, records: page.shownCount)
    }

    /// Visits a zone's versions in the order that the request wants.
    ///
    /// When record types do not matter, it reads no more of a row than a page shows of it.
    ///
    /// - Returns: whether it ended before a version that is not what was written, behind others.
    /// - Throws: `Fault` INTERNAL_ERROR where the first version is such a one.
    // Called, it would hand each record through a closure more.
    @inline(__always)
    private func scan(
        _ request: ZoneChangesRequest, _ zone: StoredZone, after: Position, through: Position,
        expected: Int, _ visit: (StoredVersion) throws -> Bool
    ) throws -> Bool {
        var isFirst = true
        do {
            try snapshot.versions(
                in: zone.number, after: after, through: through, newestFirst: request.newestFirst,
                expected: expected
            ) {
                let goesOn = try visit($0)
                isFirst = false
                return goesOn
            }
            return false
        } catch is DamagedVersion {
            guard !isFirst else { throw Fault.recordUnreadable }
            return true
        }
    }

    private func appendNewestFirst(
        _ request: ZoneChangesRequest, _ followed: FollowedZone, _ start: SyncToken,
        _ writer: inout JSONWriter, _ budget: inout PageBudget
    ) throws -> ZoneChangesPage {
        let (zone, view, changed) = (followed.zone, followed.access?.view, followed.changed)
        let shares = ShownShares.inFeed(of: zone.number, snapshot)
        var page = try FeedPage(
            request, types: types, rights: rights, database: database, budget: budget)
        var (before, until) = (changed + 1, changed)
        var unseenThrough = start.position == 0 ? changed : 0
        if case .reverse(let first, let second) = start.cursor { (before, until) = (first, second) }
        if case .first(let through) = start.cursor { unseenThrough = through }
        var more = false
        let isCutShort = try scan(
            request, zone, after: start.position, through: before - 1,
            expected: page.roomForRecords + 1
        ) { version in
            guard try page.hasRoom(for: version) else {
                more = true
                return false
            }
            try page.append(
                version, skipsDeletionsThrough: unseenThrough, with: shares, to: &writer)
            before = version.position
            return true
        }
        if isCutShort { more = true }
        page.settle(&budget)
        let token =
            more
            ? tokens.token(
                .zone, zone: zone, view: view, position: start.position,
                cursor: .reverse(before: before, until: until))
            : tokens.token(
                .zone, zone: zone, view: view, position: max(until, start.position))
        return ZoneChangesPage(
            syncToken: token, moreComing: more,
            to: more ? start.position : max(until, start.position), records: page.shownCount)
    }
}
