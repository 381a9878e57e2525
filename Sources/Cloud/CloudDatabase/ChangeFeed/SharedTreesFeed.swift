import CloudModel
import JSON
import Storage

/// Reads pages of a zone's feed for a viewer who sees only trees of the zone.
///
/// Everything that concerns the viewer has a place in one order:
///
/// - A record's membership is at the position of its last change.
/// - A share that the viewer accepted after the token is where they accepted it, with all that was in it.
/// - A share that the viewer lost is where they lost it.
///
/// The feed merges the shares that changed, in that order. A page that ends inside one place says so in its
/// token.
struct SharedTreesFeed {
    private let access: ZoneAccess
    private let tokens: SyncTokens
    private let types: TypeNumbers
    private let snapshot: any StoreSnapshot
    private let shares: ShownShares
    private let zoneJSON: [UInt8]

    init(
        _ access: ZoneAccess, owner: UserRecordName, tokens: SyncTokens, types: TypeNumbers,
        snapshot: any StoreSnapshot
    ) {
        self.access = access
        self.tokens = tokens
        self.types = types
        self.snapshot = snapshot
        shares = .inFeed(of: access.zone.number, snapshot)
        zoneJSON = ZoneJSON.identifier(access.zone.name, owner: owner)
    }

    /// A membership names a version that is not there: the store is broken.
    private struct BrokenMembership: Error {
        let position: Position
    }

    /// Appends one page, oldest change first.
    func append(
        from start: SyncToken, to writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> ZoneChangesPage {
        let begin = Cursor(start)
        var end = begin
        let more: Bool
        do {
            more = try merge(from: begin, &end, &writer, &page)
        } catch is DamagedVersion {
            // A page ends before a record that is not what was written.
            guard !end.isAt(begin) else { throw Fault.recordUnreadable }
            more = true
        }
        if !more { end.finish(through: access.view.changed) }
        // What queued work has still to note comes at later places.
        let isUnfinished = try !more && hasUnfinishedShare()
        return ZoneChangesPage(
            syncToken: tokens.token(
                .zone, zone: access.zone, view: access.view, position: end.position,
                cursor: more || isUnfinished ? end.cursor : .none),
            moreComing: more || isUnfinished,
            awaited: (isUnfinished || more) && page.isEmpty && !access.isSettled
                ? access.zone.number : nil,
            to: end.position, records: page.shownCount)
    }

    /// Where a reader is in the feed.
    private struct Cursor {
        var position: Position
        /// The reader has never seen records that were deleted up to here.
        var unseenThrough: Position = 0
        /// The position in the feed whose records were shown only in part, and how far.
        var inside: (feedPosition: Position, after: Position)?

        init(_ token: SyncToken) {
            position = token.position
            switch token.cursor {
            case .none, .reverse: break
            case .first(let through): unseenThrough = through
            case .inside(let feedPosition, let after): inside = (feedPosition, after)
            }
        }

        /// Whether nothing was passed since another place.
        func isAt(_ other: Cursor) -> Bool {
            position == other.position && inside?.feedPosition == other.inside?.feedPosition
                && inside?.after == other.inside?.after
        }

        /// While more is coming: what left before a first fetch began may be noted only after the fetch ends.
        var cursor: SyncToken.Cursor {
            if let inside { return .inside(feedPosition: inside.feedPosition, after: inside.after) }
            return unseenThrough > 0 ? .first(through: unseenThrough) : .none
        }

        /// Goes to the end of what there is.
        mutating func finish(through last: Position) {
            position = max(position, last)
            inside = nil
        }

        /// Goes on to a row that has been dealt with.
        mutating func pass(_ row: SharedStream.Row) {
            switch row.kind {
            case .change:
                position = row.feedPosition
                inside = nil
            case .arrival, .exit:
                position = row.feedPosition - 1
                inside = (row.feedPosition, row.membership.position)
            }
        }
    }

    /// - Returns: whether the page ended before the feed did.
    private func merge(
        from start: Cursor, _ end: inout Cursor, _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        // Mostly no share comes or goes, and all changes since the token fit the page. That is not so in the
        // middle of a first fetch, or of a share that comes.
        if start.position > 0, start.position >= start.unseenThrough, start.inside == nil,
            let run = try snapshot.changedMemberships(
                of: access.viewer, in: access.zone.number, after: start.position,
                limit: page.roomForRecords)
        {
            for index in ordered(run) {
                let row = try change(run, index, since: start)
                guard page.hasRoomForRow, try show(row, since: start, &writer, &page) else {
                    return true
                }
                end.pass(row)
            }
            return false
        }
        var streams = StreamMerge(try streams(from: start, chunk: page.roomForRecords))
        while let row = try streams.next(snapshot) {
            guard page.hasRoomForRow, try show(row, since: start, &writer, &page) else {
                return true
            }
            end.pass(row)
        }
        return false
    }

    private func streams(from start: Cursor, chunk: Int) throws -> [SharedStream] {
        let seenThrough = max(start.position, start.unseenThrough)
        let changed = try snapshot.grants(
            of: access.viewer, in: access.zone.number, changedAfter: start.position)
        return changed.compactMap { grant in
            // A first fetch begins with what there is now, and tells nothing of what was lost before.
            if let revoked = grant.revoked, revoked <= start.unseenThrough { return nil }
            var stream = SharedStream(
                grant, seenThrough: start.position, chunk: changed.count == 1 ? chunk : 4,
                readsVersions: changed.count == 1)
            if grant.granted > seenThrough {
                if let inside = start.inside, inside.feedPosition == grant.granted {
                    stream.showArrivals(after: inside.after)
                } else if grant.revoked != nil {
                    // The viewer has seen nothing of it, and never will.
                    return nil
                } else {
                    stream.showArrivals(after: 0)
                }
            }
            if let inside = start.inside, inside.feedPosition == grant.revoked {
                stream.departsAfter = inside.after
            }
            return stream
        }
    }

    /// The memberships of a run in the order of their places.
    private func ordered(_ run: MembershipRun) -> [Int] {
        let order = Array(run.memberships.indices)
        let isOrdered = order.dropFirst().allSatisfy {
            run.memberships[$0 - 1].position < run.memberships[$0].position
        }
        return isOrdered
            ? order : order.sorted { run.memberships[$0].position < run.memberships[$1].position }
    }

    /// A membership that changed in a share that the viewer had before and still has.
    private func change(
        _ run: MembershipRun, _ index: Int, since start: Cursor
    ) throws -> SharedStream.Row {
        let membership = run.memberships[index]
        // A record that is still there is shown in any case.
        let granted =
            try membership.left == nil ? 0 : access.grant(of: membership.share)?.granted ?? 0
        return SharedStream.Row(
            kind: .change, feedPosition: membership.position, membership: membership, run: run,
            index: index,
            isGranted: true, granted: granted, seenThrough: start.position)
    }

    /// Shows a row, or passes it over.
    ///
    /// - Returns: false when the page must end before it.
    private func show(
        _ row: SharedStream.Row, since start: Cursor, _ writer: inout JSONWriter,
        _ page: inout FeedPage
    ) throws -> Bool {
        switch row.kind {
        case .arrival where row.membership.left == nil:
            return try show(record: row, &writer, &page)
        case .change where row.membership.left == nil && row.isGranted:
            return try show(record: row, &writer, &page)
        case .change:
            guard let left = row.membership.left, left > start.unseenThrough else { break }
            return try show(exit: row, &writer, &page)
        case .exit:
            // A record that had left before they lost the share was a change of its own.
            guard row.membership.left == nil || row.membership.position > row.feedPosition else {
                break
            }
            return try show(exit: row, &writer, &page)
        case .arrival: break
        }
        page.pass()
        return true
    }

    private func show(
        record row: SharedStream.Row, _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        // While queued work carries on a move, the notes may be outdated. The page waits before such a row.
        // Otherwise it would miss a record that comes back unmoved.
        guard
            try access.isSettled || snapshot.isWhole(row.membership.share)
                || access.share(over: row.membership.record) == row.membership.share
        else { return false }
        guard page.wants(row.membership.type) else {
            page.pass()
            return true
        }
        if let shown = try row.run.version(of: row.index, { try append($0, &writer, &page) }) {
            return shown
        }
        let shown = try snapshot.version(at: row.membership.version, in: access.zone.number) {
            try append($0, &writer, &page)
        }
        guard let shown else { throw BrokenMembership(position: row.membership.position) }
        return shown
    }

    private func append(
        _ version: StoredVersion, _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        guard try page.hasRoom(for: version) else { return false }
        try page.append(record: version, with: shares, to: &writer)
        return true
    }

    /// Shows that a record is gone: the viewer could see it, and no longer can.
    private func show(
        exit row: SharedStream.Row, _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        let membership = row.membership
        // A record that left where it came in, or before, was never in the tree: its parent had left already.
        guard membership.entered <= row.seenThrough,
            membership.left.map({ $0 > max(row.granted, membership.entered) }) ?? true,
            try !access.sees(membership.record),
            let location = try snapshot.location(of: membership.record)
        else {
            page.pass()
            return true
        }
        let body = RecordBody.tombstone(
            name: location.name, type: try types.name(of: membership.type), zone: zoneJSON)
        guard page.hasRoom(bytes: body.count) else { return false }
        body.withUnsafeBytes { page.append(deletion: $0, to: &writer) }
        return true
    }

    private func hasUnfinishedShare() throws -> Bool {
        guard !access.isSettled else { return false }
        let grants = try snapshot.grants(
            of: access.viewer, in: access.zone.number, changedAfter: 0)
        return try grants.contains { try $0.revoked == nil && !snapshot.isWhole($0.share) }
    }
}
