import CloudModel
import Storage

/// The records of a zone that a viewer's shares cover, for one page of a query; all of the zone's trees are whole.
final class SharedRecords {
    /// Whether the viewer has the zone as a whole.
    let isWhole: Bool
    private let viewer: UserRecordName
    private let zone: ZoneNumber
    private let snapshot: any StoreSnapshot
    private var granted: [ShareNumber: Bool] = [:]

    private static let membershipsAtOnce = 512
    private static let sharesAtOnce = 32

    init(
        _ viewer: UserRecordName, in zone: ZoneNumber, isWhole: Bool, _ snapshot: any StoreSnapshot
    ) {
        self.viewer = viewer
        self.zone = zone
        self.isWhole = isWhole
        self.snapshot = snapshot
    }

    /// Those of some candidates that the viewer sees, in their order.
    func seen(_ candidates: [Candidate]) throws -> [Candidate] {
        guard !isWhole, !candidates.isEmpty else { return candidates }
        let covers = try snapshot.currentMemberships(of: candidates.map(\.record))
        let asked = Set(covers.compactMap { $0?.share }).filter { granted[$0] == nil }
        for share in asked { granted[share] = false }
        for grant in try snapshot.grants(of: viewer, .shares(Array(asked))) {
            granted[grant.share] = true
        }
        return zip(candidates, covers).filter { _, cover in
            cover.map { granted[$0.share] == true } ?? false
        }.map(\.0)
    }

    /// The records of a type in the trees that the viewer has, in the order of their numbers.
    ///
    /// Does not look at records that the viewer has lost or may not see, so those cost no time either.
    ///
    /// - Parameters:
    ///   - type: the type's number.
    ///   - staysMax: how many stays are read at most.
    /// - Returns: nil when there are more.
    func records(ofType type: Int64, staysMax: Int) throws -> [RecordNumber]? {
        var found: [RecordNumber] = []
        var left = staysMax
        var shares = try snapshot.grants(of: viewer, in: zone, changedAfter: 0)
            .filter { $0.revoked == nil }.map { (number: $0.share, after: Position(0)) }
        while !shares.isEmpty {
            // Those behind wait until they have a part of what is read at once that is worth it.
            let some = shares.prefix(Self.sharesAtOnce)
            let limit = max(1, Self.membershipsAtOnce / some.count)
            let runs = try snapshot.memberships(
                some.map {
                    .share($0.number, after: $0.after, limit: limit, withVersions: false)
                }, in: zone)
            var unfinished: [(number: ShareNumber, after: Position)] = []
            for (share, run) in zip(some, runs) {
                guard let run else { continue }
                left -= run.memberships.count
                guard left >= 0 else { return nil }
                for membership in run.memberships
                where membership.left == nil && membership.type == type {
                    found.append(membership.record)
                }
                if let last = run.memberships.last, !run.isLast {
                    unfinished.append((share.number, last.position))
                }
            }
            shares = unfinished + shares.dropFirst(some.count)
        }
        return found.sorted { $0.value < $1.value }
    }
}
