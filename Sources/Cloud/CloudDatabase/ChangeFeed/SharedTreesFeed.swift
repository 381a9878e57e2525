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
    /// The viewer's shares whose trees queued work has not gone through.
    private let unfinished: Set<ShareNumber>

    init(
        _ access: ZoneAccess, owner: UserRecordName, tokens: SyncTokens, types: TypeNumbers,
        snapshot: any StoreSnapshot
    ) throws {
        self.access = access
        self.tokens = tokens
        self.types = types
        self.snapshot = snapshot
        shares = .inFeed(of: access.zone.number, snapshot)
        zoneJSON = ZoneJSON.identifier(access.zone.name, owner: owner)
        guard !access.isSettled else {
            unfinished = []
            return
        }
        let standing = try snapshot.grants(
            of: access.viewer, in: access.zone.number, changedAfter: 0
        ).filter { $0.revoked == nil }.map(\.share)
        let work = try standing.isEmpty ? [] : snapshot.coverageWork(standing.map { .share($0) })
        unfinished = Set(zip(standing, work).filter { $1 != nil }.map(\.0))
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
        let isUnfinished = !more && !unfinished.isEmpty
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
            let left = run.memberships.lazy.filter { $0.left != nil }.map(\.share)
            try access.prepare(grantsOf: Set(left))
            var rows = try ordered(run).map { try change(run, $0, since: start) }
            return try !show(&rows, since: start, &end, &writer, &page)
        }
        var streams = StreamMerge(
            try streams(from: start, room: page.roomForRecords), in: access.zone.number)
        while true {
            // A page that has no more room tells so by a row that it does not show.
            var rows = try streams.next(max(1, page.roomForRecords), snapshot)
            guard !rows.isEmpty else { return false }
            guard try show(&rows, since: start, &end, &writer, &page) else { return true }
        }
    }

    /// Shows rows one after the other.
    ///
    /// - Returns: false when the page must end before the last of them.
    private func show(
        _ rows: inout [SharedStream.Row], since start: Cursor, _ end: inout Cursor,
        _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        let locations = try prepare(rows, since: start)
        for index in rows.indices {
            guard page.hasRoomForRow else { return false }
            if lacksVersion(rows[index], page) { try readVersions(of: &rows, from: index, page) }
            guard try show(rows[index], locations, since: start, &writer, &page) else {
                return false
            }
            end.pass(rows[index])
        }
        return true
    }

    /// Reads at once what decides whether rows are shown.
    ///
    /// - Returns: where the records lie of which rows may tell that they are gone.
    private func prepare(
        _ rows: [SharedStream.Row], since start: Cursor
    ) throws -> [RecordNumber: RecordLocation] {
        let gone = rows.filter { shows($0, since: start) == .exit && wasSeen($0) }
            .map(\.membership.record)
        let moving = rows.filter {
            unfinished.contains($0.membership.share) && shows($0, since: start) == .record
        }
        try access.prepare(gone + moving.map(\.membership.record))
        return try gone.isEmpty ? [:] : snapshot.recordLocations(gone)
    }

    private func lacksVersion(_ row: SharedStream.Row, _ page: FeedPage) -> Bool {
        row.version == nil && row.membership.left == nil && row.kind != .exit
            && page.wants(row.membership.type)
    }

    /// Reads the versions of rows from one on, as many as are read at once.
    private func readVersions(
        of rows: inout [SharedStream.Row], from first: Int, _ page: FeedPage
    ) throws {
        let lacking = rows.indices[first...].filter { lacksVersion(rows[$0], page) }
        let run = MembershipRun(limit: lacking.count)
        try snapshot.current(
            .records(lacking.map { rows[$0].membership.record }), inOrder: true
        ) { key, version in
            let membership = rows[lacking[key]].membership
            // NB: what is not there as it was noted is asked for again when it is shown, which says what is wrong.
            guard !version.isDamaged, version.position == membership.version else { return false }
            rows[lacking[key]].version = (run, run.memberships.count)
            run.append(membership, version)
            return run.hasRoom
        }
    }

    private func streams(from start: Cursor, room: Int) throws -> [SharedStream] {
        let seenThrough = max(start.position, start.unseenThrough)
        let changed = try snapshot.grants(
            of: access.viewer, in: access.zone.number, changedAfter: start.position)
        // Each may have all of the page; with many it has its part of what is read at once.
        let chunk = max(8, min(room + 1, StreamMerge.readMax / max(1, changed.count)))
        return changed.compactMap { grant in
            // A first fetch begins with what there is now, and tells nothing of what was lost before.
            if let revoked = grant.revoked, revoked <= start.unseenThrough { return nil }
            var stream = SharedStream(
                grant, seenThrough: start.position, chunk: chunk,
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
            kind: .change, feedPosition: membership.position, membership: membership,
            version: (run, index), isGranted: true, granted: granted, seenThrough: start.position)
    }

    /// What a row may show.
    private enum Shown { case record, exit, nothing }

    private func shows(_ row: SharedStream.Row, since start: Cursor) -> Shown {
        let left = row.membership.left
        switch row.kind {
        case .arrival: return left == nil ? .record : .nothing
        case .change:
            if left == nil, row.isGranted { return .record }
            return left.map { $0 > start.unseenThrough } ?? false ? .exit : .nothing
        case .exit:
            // A record that had left before they lost the share was a change of its own.
            return left == nil || row.membership.position > row.feedPosition ? .exit : .nothing
        }
    }

    /// Shows a row, or passes it over.
    ///
    /// - Returns: false when the page must end before it.
    private func show(
        _ row: SharedStream.Row, _ locations: [RecordNumber: RecordLocation], since start: Cursor,
        _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        switch shows(row, since: start) {
        case .record: return try show(record: row, &writer, &page)
        case .exit: return try show(exit: row, locations, &writer, &page)
        case .nothing:
            page.pass()
            return true
        }
    }

    private func show(
        record row: SharedStream.Row, _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        let membership = row.membership
        // While queued work carries on a move, the notes may be outdated. The page waits before such a row.
        // Otherwise it would miss a record that comes back unmoved.
        guard
            try !unfinished.contains(membership.share)
                || access.share(over: membership.record) == membership.share
        else { return false }
        guard page.wants(membership.type) else {
            page.pass()
            return true
        }
        let read = try row.version.flatMap { version in
            try version.run.version(of: version.index) { try append($0, &writer, &page) }
        }
        if let read { return read }
        let shown = try snapshot.version(at: membership.version, in: access.zone.number) {
            try append($0, &writer, &page)
        }
        guard let shown else { throw BrokenMembership(position: membership.position) }
        return shown
    }

    private func append(
        _ version: StoredVersion, _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        guard try page.hasRoom(for: version) else { return false }
        try page.append(record: version, with: shares, to: &writer)
        return true
    }

    /// Whether a record that is gone was in the tree at some time that the viewer knows of.
    ///
    /// One that left where it came in, or before, was never in the tree: its parent had left already.
    private func wasSeen(_ row: SharedStream.Row) -> Bool {
        let membership = row.membership
        return membership.entered <= row.seenThrough
            && membership.left.map { $0 > max(row.granted, membership.entered) } ?? true
    }

    /// Shows that a record is gone: the viewer could see it, and no longer can.
    private func show(
        exit row: SharedStream.Row, _ locations: [RecordNumber: RecordLocation],
        _ writer: inout JSONWriter, _ page: inout FeedPage
    ) throws -> Bool {
        let membership = row.membership
        guard try wasSeen(row) && !access.sees(membership.record),
            let location = locations[membership.record]
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
}
