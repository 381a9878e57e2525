import CloudModel
import Storage

/// What one viewer may see and change in a zone that somebody shares with them.
///
/// Belongs to one snapshot, and keeps what it has looked up.
package final class ZoneAccess {
    let viewer: UserRecordName
    let zone: StoredZone
    let view: StoredView
    /// What they have of the whole zone; nil when only trees are shared.
    let wholeZone: StoredGrant?
    /// Whether all that is noted of the zone's trees is so: else parents are followed.
    let isSettled: Bool
    private let snapshot: any StoreSnapshot
    private let hierarchy: Hierarchy
    private var grants: [ShareNumber: StoredGrant?] = [:]
    /// The shares that records were found to be in; nil where nobody wants to know.
    private var noted: [RecordNumber: ShareNumber?]?

    /// - Returns: nil when the viewer has nothing of the zone.
    init?(
        _ viewer: UserRecordName, in zone: StoredZone, limits: ServiceLimits,
        snapshot: any StoreSnapshot
    ) throws {
        guard let view = try snapshot.view(of: viewer, in: zone.number), view.ended == nil,
            !zone.isDeleted
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
    /// - Throws: `Fault` TRY_AGAIN_LATER while that cannot be told.
    func permission(on record: RecordNumber) throws -> SharePermission? {
        if let wholeZone { return wholeZone.permission }
        guard let share = try share(over: record) else { return nil }
        return try grant(of: share)?.permission
    }

    /// Whether the viewer may see a record: a filter for what is found by other ways.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER while that cannot be told.
    package func sees(_ record: RecordNumber) throws -> Bool {
        try permission(on: record) != nil
    }

    /// Whether a record is the root of a standing share.
    func isRoot(_ record: RecordNumber) throws -> Bool {
        try snapshot.share(ofRoot: record) != nil
    }

    /// Whether the viewer may delete a record that they may write: roots and share records are the owner's.
    func mayRemove(_ record: RecordNumber) throws -> Bool {
        try !isRoot(record) && snapshot.share(ofRecord: record) == nil
    }

    /// The share that a record is in, the viewer's or not.
    func share(over record: RecordNumber) throws -> ShareNumber? {
        let share =
            try isSettled ? snapshot.cover(of: record)?.share : hierarchy.share(over: record)
        noted?[record] = .some(share)
        return share
    }

    /// Notes from now on what it tells, so that another can be asked for the same.
    func beginNoting() { noted = [:] }

    /// Whether it tells what another has told and noted, which belongs to an earlier snapshot.
    func tells(what other: ZoneAccess) throws -> Bool {
        guard view.since == other.view.since, isSettled == other.isSettled,
            wholeZone?.share == other.wholeZone?.share,
            wholeZone?.permission == other.wholeZone?.permission
        else { return false }
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

    /// The records of a type in the trees that the viewer has, by their numbers.
    ///
    /// Records that they have lost or may not see are not looked at, so that they cost no time either.
    ///
    /// - Parameters:
    ///   - type: the type's number.
    ///   - staysMax: how many stays are read at most.
    /// - Returns: nil when there are more.
    func records(ofType type: Int64, staysMax: Int) throws -> [RecordNumber]? {
        var found: [RecordNumber] = []
        var left = staysMax
        for grant in try snapshot.grants(of: viewer, in: zone.number, changedAfter: 0)
        where grant.revoked == nil {
            var after: Position = 0
            while true {
                let run = try snapshot.stays(
                    of: grant.share, in: zone.number, after: after, limit: Self.staysAtOnce,
                    withVersions: false)
                left -= run.stays.count
                guard left >= 0 else { return nil }
                for stay in run.stays where stay.left == nil && stay.type == type {
                    found.append(stay.record)
                }
                guard let last = run.stays.last, !run.isLast else { break }
                after = last.position
            }
        }
        return found.sorted { $0.value < $1.value }
    }

    private static let staysAtOnce = 512

    /// Refuses what would be answered too short while trees are still being worked through.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER.
    package func requireSettled() throws(Fault) {
        guard isSettled else {
            throw .tryAgainLater("the tree of a share is still being worked through", seconds: 1)
        }
    }
}
