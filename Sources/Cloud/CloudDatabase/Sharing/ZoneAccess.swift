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
    /// The shares in which records were found; nil until `beginNoting`.
    private var noted: [RecordNumber: ShareNumber?]?

    /// - Parameter known: how the viewer sees the zone; nil where that is still to be looked up.
    /// - Returns: nil when the viewer sees nothing of the zone.
    init?(
        _ viewer: UserRecordName, in zone: StoredZone, seenAs known: StoredView? = nil,
        limits: ServiceLimits, snapshot: any StoreSnapshot
    ) throws {
        guard let view = try known ?? snapshot.view(of: viewer, in: zone.number),
            view.ended == nil, !zone.isDeleted
        else { return nil }
        self.viewer = viewer
        self.zone = zone
        self.view = view
        self.snapshot = snapshot
        let whole = try snapshot.shares(in: zone.number, limit: 1).first { $0.root == nil }
        wholeZone = try whole.flatMap { try snapshot.grant(of: $0.number, to: viewer) }
        isSettled = try wholeZone != nil || snapshot.isWhole(zone.number)
        hierarchy = Hierarchy(
            snapshot: snapshot, zone: zone.number, depthMax: limits.hierarchyDepthMax)
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
        let shares = Set(sharesOfRecords.values.compactMap { $0 }).filter { grants[$0] == nil }
        for share in shares { grants[share] = .some(nil) }
        for grant in try snapshot.grants(of: viewer, .shares(Array(shares))) {
            grants[grant.share] = .some(grant)
        }
    }

    /// Whether a record is the root of a standing share.
    func isRoot(_ record: RecordNumber) throws -> Bool {
        try snapshot.share(ofRoot: record) != nil
    }

    /// Whether the viewer may delete a record that they may write: only the owner deletes roots and share
    /// records.
    func mayRemove(_ record: RecordNumber) throws -> Bool {
        try !isRoot(record) && snapshot.share(ofRecord: record) == nil
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
