import CloudModel

/// The number of a share within one store; never used again.
package struct ShareNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// A share as stored, standing or ended.
package struct StoredShare: Sendable, Equatable {
    package let number: ShareNumber
    package let zone: ZoneNumber
    /// The share record.
    package let record: RecordNumber
    /// The root of the tree; nil for a share of the whole zone.
    package let root: RecordNumber?
    package let publicPermission: SharePermission
    /// Whether others may ask to take part.
    package let allowsRequests: Bool
    /// The position at which it was made.
    package let created: Position
    /// The position at which it ended; nil while it stands.
    package let ended: Position?

    package init(
        number: ShareNumber, zone: ZoneNumber, record: RecordNumber, root: RecordNumber?,
        publicPermission: SharePermission, allowsRequests: Bool = false, created: Position,
        ended: Position?
    ) {
        self.number = number
        self.zone = zone
        self.record = record
        self.root = root
        self.publicPermission = publicPermission
        self.allowsRequests = allowsRequests
        self.created = created
        self.ended = ended
    }
}

/// A participant of a share; the owner is one only if they were stored as one.
package struct StoredParticipant: Sendable, Equatable {
    /// A UUID by which clients know the participant; unique within the share.
    package let id: String
    /// The user; nil until the invitation has been matched to one.
    package var user: UserRecordName?
    /// The address of the invitation, as it is compared.
    ///
    /// Nil for an invitation by user record name, and for a one-time link.
    package var address: String?
    package var role: ParticipantRole
    package var permission: SharePermission
    package var status: AcceptanceStatus
    /// Whether they take part because they asked to.
    package var isApprovedRequester: Bool

    /// Whether this is a one-time link: whoever opens it first becomes the participant (rulings.md 49).
    package var isOneTimeLink: Bool { user == nil && address == nil }

    package init(
        id: String, user: UserRecordName?, address: String?, role: ParticipantRole,
        permission: SharePermission, status: AcceptanceStatus, isApprovedRequester: Bool = false
    ) {
        self.id = id
        self.user = user
        self.address = address
        self.role = role
        self.permission = permission
        self.status = status
        self.isApprovedRequester = isApprovedRequester
    }
}

/// A person who asks to take part in a share, or who is blocked from asking (rulings.md 50).
package struct StoredAccessRequest: Sendable, Equatable {
    package let user: UserRecordName
    /// When they asked; 0 for a person who was blocked without having asked.
    package let madeAt: Milliseconds
    package var isBlocked: Bool

    /// How long a request counts towards its user's limit: a day.
    package static let countedMilliseconds: Milliseconds = 86_400_000

    package init(user: UserRecordName, madeAt: Milliseconds, isBlocked: Bool) {
        self.user = user
        self.madeAt = madeAt
        self.isBlocked = isBlocked
    }
}

/// A person's access to a share, now or in the past.
package struct StoredGrant: Sendable, Equatable {
    package let share: ShareNumber
    package let zone: ZoneNumber
    package let permission: SharePermission
    /// The position at which they accepted the share.
    package let granted: Position
    /// The position at which they lost the share; nil while they have it.
    package let revoked: Position?
    /// The position of the share's last change that concerns them.
    package let changed: Position

    package init(
        share: ShareNumber, zone: ZoneNumber, permission: SharePermission, granted: Position,
        revoked: Position?, changed: Position
    ) {
        self.share = share
        self.zone = zone
        self.permission = permission
        self.granted = granted
        self.revoked = revoked
        self.changed = changed
    }
}

/// A zone that is in a viewer's shared database, or was in it.
package struct StoredView: Sendable, Equatable {
    package let zone: ZoneNumber
    /// The position from which on the viewer has seen something of the zone without a gap.
    package let since: Position
    /// The position at which nothing was left to see of it; nil while there is something to see.
    package let ended: Position?
    package let changed: Position
    /// Zone tokens below this position have expired.
    package let oldestValidPosition: Position

    package init(
        zone: ZoneNumber, since: Position, ended: Position?, changed: Position,
        oldestValidPosition: Position
    ) {
        self.zone = zone
        self.since = since
        self.ended = ended
        self.changed = changed
        self.oldestValidPosition = oldestValidPosition
    }
}

/// A record's membership in a share's tree: from when it came in until it left, or until now.
package struct StoredMembership: Sendable, Equatable {
    package let share: ShareNumber
    /// Its place in the feed: the position of the last change that participants should see.
    package var position: Position
    package let record: RecordNumber
    /// The position of the record's version.
    package var version: Position
    /// The number of the record's type.
    package var type: Int64
    package let entered: Position
    /// The position at which the record left the tree, never after `position`; nil while the record is in it.
    package var left: Position?

    package init(
        share: ShareNumber, position: Position, record: RecordNumber, version: Position,
        type: Int64, entered: Position, left: Position?
    ) {
        self.share = share
        self.position = position
        self.record = record
        self.version = version
        self.type = type
        self.entered = entered
        self.left = left
    }
}

/// The share that covers a record, and where the record's membership lies.
package struct CurrentMembership: Sendable, Equatable {
    package let share: ShareNumber
    package let position: Position

    package init(share: ShareNumber, position: Position) {
        self.share = share
        self.position = position
    }
}

/// A record's zone, name and position.
package struct RecordLocation: Sendable, Equatable {
    package let zone: ZoneNumber
    package let name: RecordName
    /// The position of its current version or tombstone.
    package let position: Position

    package init(zone: ZoneNumber, name: RecordName, position: Position) {
        self.zone = zone
        self.name = name
        self.position = position
    }
}

/// What shares are looked for by.
package enum ShareKeys: Sendable {
    /// Standing or ended shares.
    case numbers([ShareNumber])
    /// The records at the roots of standing shares' trees.
    case roots([RecordNumber])
    /// The share records of standing shares.
    case records([RecordNumber])
}

/// Reading shares: part of every snapshot.
package protocol ShareReading: AnyObject {
    /// The shares that each of some keys leads to, in the keys' order; nil for one that leads to none.
    func shares(_ keys: ShareKeys) throws -> [StoredShare?]

    /// The standing shares of a zone, at most `limit` of them.
    func shares(in zone: ZoneNumber, limit: Int) throws -> [StoredShare]

    /// The participants of a share, in no particular order.
    func participants(of share: ShareNumber) throws -> [StoredParticipant]

    /// Those who ask to take part in a share, and those blocked from asking; the longest waiting first.
    func accessRequests(of share: ShareNumber) throws -> [StoredAccessRequest]

    /// How often a user has asked to take part in shares, all shares together, since a moment.
    func accessRequestCount(of user: UserRecordName, since moment: Milliseconds) throws -> Int

    /// When the share's record was last saved anew because somebody had asked to take part; 0 for never.
    func requestsTold(of share: ShareNumber) throws -> Milliseconds

    /// The entries of a user among the participants of standing shares, whatever their status.
    func participations(of user: UserRecordName) throws -> [(ShareNumber, StoredParticipant)]

    /// The invitations to standing shares that name an address.
    func invitations(to address: String) throws -> [(ShareNumber, StoredParticipant)]

    /// The short identifier of a record; it stays when sharing ends.
    func shortGUID(of record: RecordNumber) throws -> String?

    /// The record that a short identifier leads to, shared or not.
    func record(ofShortGUID value: String) throws -> RecordNumber?

    /// A viewer's current access to each of some shares, in their order; nil for none.
    func grants(of shares: [ShareNumber], to viewer: UserRecordName) throws -> [StoredGrant?]

    /// The grants of a viewer in a zone that changed after a position, by the position of their last change.
    ///
    /// Revoked grants are included.
    func grants(
        of viewer: UserRecordName, in zone: ZoneNumber, changedAfter: Position
    ) throws -> [StoredGrant]

    /// A zone as a viewer sees it, or saw it once; nil when they never saw it.
    func view(of viewer: UserRecordName, in zone: ZoneNumber) throws -> StoredView?

    /// A viewer's shared database feed: zones that they see or have lost, by the position of the last change.
    func views(of viewer: UserRecordName, changedAfter: Position, limit: Int) throws -> [StoredView]

    /// The position of the last change in a viewer's shared database; 0 for none.
    func lastViewChange(of viewer: UserRecordName) throws -> Position

    /// The zones that a viewer sees now, in the order of their owners' names and then their own names.
    func zonesViewed(by viewer: UserRecordName) throws -> [StoredZone]

    /// The position below which a viewer's database tokens have expired.
    func viewsWholeAfter(of viewer: UserRecordName) throws -> Position

    /// The standing shares that cover records, in their order; nil for a record that none covers.
    ///
    /// Queued work may still be on its way through a share's tree: this tells as much as it has done by
    /// now.
    func currentMemberships(of records: [RecordNumber]) throws -> [CurrentMembership?]

    /// The memberships of a share after a position, in order, at most `limit` of them.
    ///
    /// - Parameters:
    ///   - zone: the share's zone.
    ///   - withVersions: whether the memberships of records that are still in the share bring their versions along.
    func memberships(
        of share: ShareNumber, in zone: ZoneNumber, after: Position, limit: Int,
        withVersions: Bool
    ) throws -> MembershipRun

    /// The memberships, with versions, that changed after a position in a viewer's shares of a zone.
    ///
    /// These are the shares that the viewer had at that position and still has. The memberships come one share
    /// after the other.
    ///
    /// - Returns: nil when the viewer gained or lost a share since, and when there are more than `limit`
    ///   stays.
    func changedMemberships(
        of viewer: UserRecordName, in zone: ZoneNumber, after: Position, limit: Int
    ) throws -> MembershipRun?

    /// Whether queued work has gone through the whole tree of a share.
    func isWhole(_ share: ShareNumber) throws -> Bool

    /// Whether queued work has gone through all trees of a zone.
    func isWhole(_ zone: ZoneNumber) throws -> Bool
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

    /// As `grants`, for one share.
    package func grant(
        of share: ShareNumber, to viewer: UserRecordName
    ) throws -> StoredGrant? {
        try grants(of: [share], to: viewer).first ?? nil
    }

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

    func setPublicPermission(_ permission: SharePermission, of share: ShareNumber) throws

    func setAllowsRequests(_ allows: Bool, of share: ShareNumber) throws

    /// Notes that a user has asked to take part in a share.
    ///
    /// - Parameter share: nil when nobody should see the request; it counts towards the user's limit all the
    ///   same.
    func noteRequest(of user: UserRecordName, for share: ShareNumber?) throws

    /// Replaces all requests and blocks of a share; whoever is not among the new ones may ask again.
    func replaceRequests(of share: ShareNumber, by requests: [StoredAccessRequest]) throws

    /// Forgets all requests of a user, and all blocks against them.
    func forgetRequests(of user: UserRecordName) throws

    /// Notes that the share's record has been saved anew because somebody had asked to take part.
    func noteRequestsTold(of share: ShareNumber) throws

    /// Ends a share at the next position: everybody loses it, and its participants are forgotten.
    func endShare(_ share: ShareNumber) throws

    /// Adds a participant, or replaces the one with the same id.
    func save(_ participant: StoredParticipant, of share: ShareNumber) throws

    /// Forgets a participant; their grant stays until `revoke`.
    func removeParticipant(_ id: String, of share: ShareNumber) throws

    /// Gives a record a short identifier that no other record may have.
    func setShortGUID(_ value: String, of record: RecordNumber) throws

    /// Lets a viewer see a standing share from the next position on.
    ///
    /// When the viewer has it already, only their permission changes.
    func grant(
        _ share: StoredShare, to viewer: UserRecordName, permission: SharePermission) throws

    /// Ends a viewer's access to a share at the next position; does nothing when there is none.
    func revoke(_ share: ShareNumber, from viewer: UserRecordName) throws

    /// Notes that a record came into a share, at a position that was just taken.
    func enter(_ membership: StoredMembership) throws

    /// Moves the membership of a covered record to a position that was just taken, because its version has moved
    /// there.
    func renew(
        _ record: RecordNumber, _ membership: CurrentMembership, at position: Position, type: Int64)
        throws

    /// Notes that a record left a share, at a position that was just taken.
    ///
    /// - Parameter left: when it left the tree; not after `position`.
    func leave(
        _ record: RecordNumber, _ membership: CurrentMembership, at position: Position,
        left: Position) throws

    /// Notes which shares the queued work `cover` of a record concerns.
    ///
    /// These shares are not whole until the work is finished; finishing it removes the notes.
    ///
    /// - Parameter since: when the record's children left or joined the shares.
    func markCoverageWork(
        _ record: RecordNumber, in zone: ZoneNumber, concerning shares: [ShareNumber],
        since: Position) throws

    /// The position since which the `cover` work on a record's children concerns this share.
    func coverageWorkSince(
        _ record: RecordNumber, concerning share: ShareNumber
    ) throws -> Position?
}
