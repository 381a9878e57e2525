import CloudModel
import Storage

/// What one viewer may see and change in a zone that somebody shares with them.
///
/// It belongs to one snapshot, and keeps what it has looked up.
package final class ZoneAccess {
    let viewer: UserRecordName
    let zone: StoredZone
    let view: StoredView
    /// The viewer's grant for the whole zone; nil when only trees are shared.
    let wholeZone: StoredGrant?
    /// Whether all notes about the zone's trees are up to date; if not, parents are followed.
    let isSettled: Bool
    private let snapshot: any StoreSnapshot
    private let hierarchy: Hierarchy
    private var grants: [ShareNumber: StoredGrant?] = [:]
    /// The shares that cover records, as far as `prepare` has read them.
    private var sharesOfRecords: [RecordNumber: ShareNumber?] = [:]
    /// The standing shares of which records are the roots or the share records, as far as that was asked.
    private var ownShares: [RecordNumber: StoredShare?] = [:]
    /// The shares in which records were found; nil until `beginNoting`.
    private var noted: [RecordNumber: ShareNumber?]?

    /// - Parameter grant: the viewer's for the whole zone.
    private init(
        _ viewer: UserRecordName, in zone: StoredZone, seenAs view: StoredView,
        wholeZone grant: StoredGrant?, isSettled: Bool, limits: ServiceLimits,
        snapshot: any StoreSnapshot
    ) {
        self.viewer = viewer
        self.zone = zone
        self.view = view
        self.wholeZone = grant
        self.isSettled = isSettled
        self.snapshot = snapshot
        hierarchy = Hierarchy(
            snapshot: snapshot, zone: zone.number, depthMax: limits.hierarchyDepthMax)
    }

    /// - Returns: nil when the viewer sees nothing of the zone.
    static func of(
        _ viewer: UserRecordName, in zone: StoredZone, limits: ServiceLimits,
        snapshot: any StoreSnapshot
    ) throws -> ZoneAccess? {
        guard let view = try snapshot.view(of: viewer, in: zone.number) else { return nil }
        return try of(viewer, in: [(zone, view)], limits: limits, snapshot: snapshot).first
    }

    /// What a viewer sees of many zones, in their order; without those of which they see nothing.
    ///
    /// - Parameter zones: each with how the viewer sees it.
    static func of(
        _ viewer: UserRecordName, in zones: [(StoredZone, StoredView)], limits: ServiceLimits,
        snapshot: any StoreSnapshot
    ) throws -> [ZoneAccess] {
        let seen = zones.filter { $1.ended == nil && !$0.isDeleted }
        guard !seen.isEmpty else { return [] }
        let shares = try snapshot.shares(in: seen.map(\.0.number), limit: .max, ofEach: 1)
        let whole = shares.filter { $0.root == nil }.map(\.number)
        var grants: [ZoneNumber: StoredGrant] = [:]
        if !whole.isEmpty {
            for grant in try snapshot.grants(of: viewer, .shares(whole)) {
                grants[grant.zone] = grant
            }
        }
        let others = seen.lazy.map(\.0.number).filter { grants[$0] == nil }
        let work = try others.isEmpty ? [] : snapshot.coverageWork(others.map { .zone($0) })
        let unsettled = Set(zip(others, work).lazy.filter { $1 != nil }.map(\.0))
        return seen.map { zone, view in
            ZoneAccess(
                viewer, in: zone, seenAs: view, wholeZone: grants[zone.number],
                isSettled: !unsettled.contains(zone.number), limits: limits, snapshot: snapshot)
        }
    }

    /// What the viewer may do with a record; nil when they may not see it.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER while nobody can tell.
    func permission(on record: RecordNumber) throws -> SharePermission? {
        if let wholeZone { return wholeZone.permission }
        guard let share = try share(over: record) else { return nil }
        return try grant(of: share)?.permission
    }

    /// Whether the viewer may see a record; for records that were found in other ways.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER while nobody can tell.
    package func sees(_ record: RecordNumber) throws -> Bool {
        try permission(on: record) != nil
    }

    /// Reads at once what will be asked of records.
    func prepare(_ records: [RecordNumber]) throws {
        guard wholeZone == nil, !records.isEmpty else { return }
        if isSettled {
            for (record, membership) in zip(records, try snapshot.currentMemberships(of: records)) {
                sharesOfRecords[record] = .some(membership?.share)
            }
        } else {
            try sharesOfRecords.merge(hierarchy.shares(over: records)) { $1 }
        }
        try prepare(grantsOf: Set(sharesOfRecords.values.compactMap { $0 }))
    }

    /// Reads at once which of some shares the viewer has.
    func prepare(grantsOf shares: Set<ShareNumber>) throws {
        let unknown = shares.filter { grants[$0] == nil }
        guard !unknown.isEmpty else { return }
        for share in unknown { grants[share] = .some(nil) }
        for grant in try snapshot.grants(of: viewer, .shares(Array(unknown))) {
            grants[grant.share] = .some(grant)
        }
    }

    /// Whether a record is the root of a standing share; asked at once of all records that were prepared.
    func isRoot(_ record: RecordNumber) throws -> Bool {
        try ownShare(of: record)?.root == record
    }

    /// The standing share of which a record is the root or the share record.
    private func ownShare(of record: RecordNumber) throws -> StoredShare? {
        if let known = ownShares[record] { return known }
        let records = Array(Set(sharesOfRecords.keys).subtracting(ownShares.keys).union([record]))
        for (record, share) in zip(records, try snapshot.shares(.rootsOrRecords(records))) {
            ownShares[record] = .some(share)
        }
        return ownShares[record] ?? nil
    }

    /// Whether the viewer may delete a record that they may write: only the owner deletes roots and share
    /// records.
    func mayRemove(_ record: RecordNumber) throws -> Bool {
        try ownShare(of: record) == nil
    }

    /// The share that a record is in, whether the viewer has that share or not.
    func share(over record: RecordNumber) throws -> ShareNumber? {
        let share =
            if let known = sharesOfRecords[record] {
                known
            } else {
                try isSettled
                    ? snapshot.currentMembership(of: record)?.share : hierarchy.share(over: record)
            }
        noted?[record] = .some(share)
        return share
    }

    /// Remembers from now on what it answers, so that another one can be asked the same.
    func beginNoting() { noted = [:] }

    /// Whether it gives the same answers that another one, of an earlier snapshot, has remembered.
    func tells(what other: ZoneAccess) throws -> Bool {
        guard view.since == other.view.since, isSettled == other.isSettled,
            wholeZone?.share == other.wholeZone?.share,
            wholeZone?.permission == other.wholeZone?.permission
        else { return false }
        try prepare(Array((other.noted ?? [:]).keys))
        for (record, share) in other.noted ?? [:] where try self.share(over: record) != share {
            return false
        }
        for (share, known) in other.grants {
            let grant = try grant(of: share)
            guard grant?.permission == known?.permission, grant?.revoked == known?.revoked else {
                return false
            }
        }
        return true
    }

    func grant(of share: ShareNumber) throws -> StoredGrant? {
        if let known = grants[share] { return known }
        let found = try snapshot.grant(of: share, to: viewer)
        grants[share] = .some(found)
        return found
    }

    /// Refuses a request whose answer would be incomplete, because queued work is still going through trees.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER.
    package func requireSettled() throws(Fault) {
        guard isSettled else {
            throw .tryAgainLater("the tree of a share is still being worked through", seconds: 1)
        }
    }
}
