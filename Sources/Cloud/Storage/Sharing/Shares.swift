import CloudModel

/// What shares are looked for by.
package enum ShareKeys: Sendable {
    /// Standing or ended shares.
    case numbers([ShareNumber])
    /// The records at the roots of standing shares' trees.
    case roots([RecordNumber])
    /// The share records of standing shares.
    case records([RecordNumber])
    /// Records that are either: the share of which each is the root, else the one whose share record it is.
    case rootsOrRecords([RecordNumber])
    /// Standing shares of zones, one zone's after the other's: at most `ofEach` of a zone, and `limit` in all.
    case zones([ZoneNumber], limit: Int, ofEach: Int)
}

/// Reading shares: part of every snapshot.
package protocol ShareReading: AnyObject {
    /// The shares that each of some keys leads to, in the keys' order; nil for one that leads to none.
    func shares(_ keys: ShareKeys) throws -> [StoredShare?]

    /// The entries among the participants of shares that each key leads to, in the keys' order; those of one key
    /// whatever their status, in no particular order.
    func participants(_ keys: [ParticipantKey]) throws -> [[(ShareNumber, StoredParticipant)]]

    /// The requests to take part in shares that each key leads to, in the keys' order; those of one key the longest
    /// waiting first.
    func accessRequests(_ keys: [AccessRequestKey]) throws -> [[StoredAccessRequest]]

    /// The short identifiers that keys lead to, in the keys' order; they stay when sharing ends.
    func shortGUIDs(_ keys: [ShortGUIDKey]) throws -> [StoredShortGUID?]

    /// The grants that each key leads to, in the keys' order.
    func grants(_ keys: [GrantKey]) throws -> [[StoredGrant]]

    /// Zones as a viewer sees them, or saw them once.
    func views(of viewer: UserRecordName, _ selection: ViewSelection) throws -> [StoredView]

    /// How far a viewer's shared database has come.
    func viewer(_ name: UserRecordName) throws -> StoredViewer

    /// The standing shares that cover records, in their order; nil for a record that none covers.
    ///
    /// Queued work may still be on its way through a share's tree: this tells as much as it has done by
    /// now.
    func currentMemberships(of records: [RecordNumber]) throws -> [CurrentMembership?]

    /// The memberships in a zone of each selection, in the selections' order.
    ///
    /// - Returns: nil for one where `MembershipSelection` says so.
    func memberships(
        _ selections: [MembershipSelection], in zone: ZoneNumber
    ) throws -> [MembershipRun?]

    /// Since when queued work on trees is under way, in the keys' order; nil for none.
    ///
    /// These are positions at which records left or joined the trees that still have to be told to others.
    func coverageWork(_ keys: [CoverageWorkKey]) throws -> [Position?]
}

/// Whose entries among the participants of shares are asked for.
package enum ParticipantKey: Sendable {
    case share(ShareNumber)
    /// Those of a user, in standing shares.
    case user(UserRecordName)
    /// Invitations to standing shares that name an address.
    case address(String)
}

/// What requests to take part in shares are looked for by.
package enum AccessRequestKey: Sendable {
    /// Those who wait for a share, and those blocked from asking.
    case share(ShareNumber)
    /// All that a user has made since a moment, whatever became of them.
    case user(UserRecordName, since: Milliseconds)
}

/// The short identifier of a record, shared or not.
package struct StoredShortGUID: Sendable {
    package let record: RecordNumber
    package let value: String

    package init(record: RecordNumber, value: String) {
        self.record = record
        self.value = value
    }
}

/// What a short identifier is looked for by.
package enum ShortGUIDKey: Sendable {
    case record(RecordNumber)
    case value(String)
}

/// A viewer, and which of their grants are asked for.
package struct GrantKey: Sendable {
    package let viewer: UserRecordName
    package let selection: GrantSelection

    package init(_ viewer: UserRecordName, _ selection: GrantSelection) {
        self.viewer = viewer
        self.selection = selection
    }
}

/// Which grants of a viewer are asked for.
package enum GrantSelection: Sendable {
    /// Those that stand of some shares, in the shares' order.
    case shares([ShareNumber])
    /// Those in a zone that changed after a position, revoked ones included, by the position of their last change.
    case changed(in: ZoneNumber, after: Position)
}

/// Which zones of a viewer are asked for.
package enum ViewSelection: Sendable {
    case zones([ZoneNumber])
    /// Those that they see now.
    case current
    /// The shared database feed: zones that they see or have lost, by the position of the last change.
    case changed(after: Position, limit: Int)
}

/// Which memberships of records in shares are asked for.
package enum MembershipSelection: Sendable {
    /// Those of a share of the zone that changed after a position, in order, at most `limit` of them.
    ///
    /// - Parameter withVersions: whether the memberships of records that are still in the share bring their versions
    ///   along.
    case share(ShareNumber, after: Position, limit: Int, withVersions: Bool)
    /// Those that changed after a position in the shares that a viewer had at it and still has, with versions, one
    /// share after the other.
    ///
    /// Nil when the viewer gained or lost a share since, and when there are more than `limit` memberships, or more bytes
    /// of versions than a run has.
    case viewer(UserRecordName, after: Position, limit: Int)
}

/// How far a viewer's shared database has come.
package struct StoredViewer: Sendable {
    /// Database tokens below this position have expired.
    package let oldestValidPosition: Position

    package init(oldestValidPosition: Position) {
        self.oldestValidPosition = oldestValidPosition
    }
}

/// What queued work on trees is looked for by.
package enum CoverageWorkKey: Sendable {
    /// The work on a record's children, as far as it concerns a share.
    case children(of: RecordNumber, concerning: ShareNumber)
    case share(ShareNumber)
    /// All trees of a zone.
    case zone(ZoneNumber)
}

/// What a viewer may do with a share from now on.
package struct GrantChange: Sendable {
    package let viewer: UserRecordName
    /// Nil ends their access.
    package let permission: SharePermission?

    package init(_ viewer: UserRecordName, _ permission: SharePermission?) {
        self.viewer = viewer
        self.permission = permission
    }
}

extension ShareReading {
    /// A share, standing or ended.
    package func share(_ number: ShareNumber) throws -> StoredShare? {
        try shares(.numbers([number])).first ?? nil
    }

    /// The standing share whose tree has this record as its root.
    package func share(ofRoot root: RecordNumber) throws -> StoredShare? {
        try shares(.roots([root])).first ?? nil
    }

    /// The standing share whose share record this is.
    package func share(ofRecord record: RecordNumber) throws -> StoredShare? {
        try shares(.records([record])).first ?? nil
    }

    /// Those who ask to take part in a share, and those blocked from asking; the longest waiting first.
    package func accessRequests(of share: ShareNumber) throws -> [StoredAccessRequest] {
        try accessRequests([.share(share)]).first ?? []
    }

    /// How often a user has asked to take part in shares, all shares together, since a moment.
    package func accessRequestCount(
        of user: UserRecordName, since moment: Milliseconds
    ) throws -> Int { try accessRequests([.user(user, since: moment)]).first?.count ?? 0 }

    /// The participants of a share.
    package func participants(of share: ShareNumber) throws -> [StoredParticipant] {
        try participants(of: [share]).first ?? []
    }

    /// The participants of shares, in the shares' order.
    package func participants(of shares: [ShareNumber]) throws -> [[StoredParticipant]] {
        try participants(shares.map { .share($0) }).map { $0.map(\.1) }
    }

    /// The entries of a user among the participants of standing shares.
    package func participations(
        of user: UserRecordName
    ) throws -> [(ShareNumber, StoredParticipant)] { try participants([.user(user)]).first ?? [] }

    /// The invitations to standing shares that name an address.
    package func invitations(to address: String) throws -> [(ShareNumber, StoredParticipant)] {
        try participants([.address(address)]).first ?? []
    }

    /// The short identifier of a record.
    package func shortGUID(of record: RecordNumber) throws -> String? {
        try shortGUIDs(of: [record]).first ?? nil
    }

    /// The short identifiers of records, in the records' order.
    package func shortGUIDs(of records: [RecordNumber]) throws -> [String?] {
        try shortGUIDs(records.map { .record($0) }).map { $0?.value }
    }

    /// The record that a short identifier leads to, shared or not.
    package func record(ofShortGUID value: String) throws -> RecordNumber? {
        try shortGUIDs([.value(value)]).first??.record
    }

    /// A zone as a viewer sees it, or saw it once; nil when they never saw it.
    package func view(of viewer: UserRecordName, in zone: ZoneNumber) throws -> StoredView? {
        try views(of: viewer, .zones([zone])).first
    }

    /// A page of a viewer's shared database feed.
    package func views(
        of viewer: UserRecordName, changedAfter: Position, limit: Int
    ) throws -> [StoredView] { try views(of: viewer, .changed(after: changedAfter, limit: limit)) }

    /// The memberships of a share after a position.
    package func memberships(
        of share: ShareNumber, in zone: ZoneNumber, after: Position, limit: Int,
        withVersions: Bool
    ) throws -> MembershipRun {
        try memberships(
            [.share(share, after: after, limit: limit, withVersions: withVersions)], in: zone
        ).first.flatMap { $0 } ?? MembershipRun()
    }

    /// The memberships that changed after a position in a viewer's shares of a zone.
    package func changedMemberships(
        of viewer: UserRecordName, in zone: ZoneNumber, after: Position, limit: Int
    ) throws -> MembershipRun? {
        try memberships([.viewer(viewer, after: after, limit: limit)], in: zone).first ?? nil
    }

    /// Whether queued work has gone through the whole tree of a share.
    package func isWhole(_ share: ShareNumber) throws -> Bool {
        try coverageWork([.share(share)]) == [nil]
    }

    /// Whether queued work has gone through all trees of a zone.
    package func isWhole(_ zone: ZoneNumber) throws -> Bool {
        try coverageWork([.zone(zone)]) == [nil]
    }

    /// The standing shares of a zone.
    package func shares(in zone: ZoneNumber, limit: Int) throws -> [StoredShare] {
        try shares(in: [zone], limit: limit)
    }

    /// The standing shares of zones.
    package func shares(
        in zones: [ZoneNumber], limit: Int, ofEach: Int = .max
    ) throws -> [StoredShare] {
        try shares(.zones(zones, limit: limit, ofEach: ofEach)).compactMap { $0 }
    }

    /// Those of some zones that are shared as a whole; such a zone has no other share.
    package func sharedZones(among zones: [ZoneNumber]) throws -> Set<ZoneNumber> {
        Set(
            try shares(in: zones, limit: .max, ofEach: 1).lazy.filter { $0.root == nil }.map(\.zone)
        )
    }

    /// A viewer's grants.
    package func grants(
        of viewer: UserRecordName, _ selection: GrantSelection
    ) throws -> [StoredGrant] { try grants([GrantKey(viewer, selection)]).first ?? [] }

    /// A viewer's current access to a share.
    package func grant(
        of share: ShareNumber, to viewer: UserRecordName
    ) throws -> StoredGrant? { try grants(of: viewer, .shares([share])).first }

    /// The grants of a viewer in a zone that changed after a position.
    package func grants(
        of viewer: UserRecordName, in zone: ZoneNumber, changedAfter position: Position
    ) throws -> [StoredGrant] { try grants(of: viewer, .changed(in: zone, after: position)) }

    /// As `covers`, for one record.
    package func currentMembership(of record: RecordNumber) throws -> CurrentMembership? {
        try currentMemberships(of: [record]).first ?? nil
    }
}

/// Changing shares: part of every write.
package protocol ShareWriting: ShareReading {
    /// Whether a zone has trees of shares to maintain: it has shares, or queued work on trees is unfinished.
    func keepsTrees(_ zone: ZoneNumber) throws -> Bool

    /// Makes a share, which takes the next position.
    ///
    /// The caller then says by `enter` which records it covers.
    ///
    /// - Parameter root: nil for a share of the whole zone.
    func makeShare(
        in zone: ZoneNumber, record: RecordNumber, root: RecordNumber?,
        publicPermission: SharePermission
    ) throws -> StoredShare

    /// Stores what others than the participants may do with a share, and when they were told of requests.
    func save(_ share: StoredShare) throws

    /// Adds requests to take part in a share and blocks, after it has settled what others had there.
    ///
    /// What is settled is gone from the share, and a request counts on towards its user's limit.
    ///
    /// - Parameters:
    ///   - users: whose request or block is settled: those of whom one is added have none beside it.
    ///   - share: nil for requests that nobody should see; they count towards the users' limits all the same.
    func save(
        _ requests: [StoredAccessRequest], settling users: [UserRecordName],
        of share: ShareNumber?) throws

    /// Ends a share at the next position: everybody loses it, and its participants are forgotten.
    func endShare(_ share: ShareNumber) throws

    /// Adds participants, each in the place of one with the same id, after it has forgotten others.
    ///
    /// - Parameter ids: of those that are forgotten; their grants stay until `revoke`.
    func save(
        _ participants: [StoredParticipant], removing ids: [String], of share: ShareNumber) throws

    /// Sets what viewers may do with a standing share, one after the other.
    ///
    /// Where a viewer gains or loses it, that is at the next position; where not, only their permission changes.
    ///
    /// - Parameter changes: each of another viewer.
    func set(_ changes: [GrantChange], of share: ShareNumber) throws

    /// Notes that a record came into a share, moved on in it or left it.
    func move(_ membership: MembershipMove) throws
}

extension ShareWriting {
    /// Adds a participant, or replaces the one with the same id.
    package func save(_ participant: StoredParticipant, of share: ShareNumber) throws {
        try save([participant], removing: [], of: share)
    }

    /// Lets a viewer see a share.
    package func grant(
        _ share: StoredShare, to viewer: UserRecordName, permission: SharePermission
    ) throws { try set([GrantChange(viewer, permission)], of: share.number) }

    /// Ends a viewer's access to a share; does nothing when there is none.
    package func revoke(_ share: ShareNumber, from viewer: UserRecordName) throws {
        try set([GrantChange(viewer, nil)], of: share)
    }

    /// Forgets a participant.
    package func removeParticipant(_ id: String, of share: ShareNumber) throws {
        try save([], removing: [id], of: share)
    }
}
