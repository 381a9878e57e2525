import CloudModel

/// A share within one store; never used again.
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

/// One participant of a share, its owner not among them unless he was stored as one.
package struct StoredParticipant: Sendable, Equatable {
    /// A UUID that clients know the participant by; unique within the share.
    package let id: String
    /// Nil until the invitation has been matched to a user.
    package var user: UserRecordName?
    /// The address that he was invited by, as compared; nil for a name and for a one-time link.
    package var address: String?
    package var role: ParticipantRole
    package var permission: SharePermission
    package var status: AcceptanceStatus
    /// Whether he takes part because he asked to.
    package var isApprovedRequester: Bool

    /// Whether he will be whoever comes first by a link of his own (rulings.md 49).
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

/// Somebody who asks to take part in a share, or who may not ask any more (rulings.md 50).
package struct StoredAccessRequest: Sendable, Equatable {
    package let user: UserRecordName
    /// When he asked; 0 for somebody who was blocked and had not asked.
    package let madeAt: Milliseconds
    package var isBlocked: Bool

    /// How long a request counts to its user's: a day.
    package static let countedMilliseconds: Milliseconds = 86_400_000

    package init(user: UserRecordName, madeAt: Milliseconds, isBlocked: Bool) {
        self.user = user
        self.madeAt = madeAt
        self.isBlocked = isBlocked
    }
}

/// A share as one viewer has it, or had it.
package struct StoredGrant: Sendable, Equatable {
    package let share: ShareNumber
    package let zone: ZoneNumber
    package let permission: SharePermission
    /// The position at which he accepted it.
    package let granted: Position
    /// The position at which he lost it; nil while he has it.
    package let revoked: Position?
    /// The share's last change that concerns him.
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

/// A zone in the shared database of one viewer, or one that has been there.
package struct StoredView: Sendable, Equatable {
    package let zone: ZoneNumber
    /// The position from which he has seen something of it without a gap.
    package let since: Position
    /// The position at which nothing was left to see; nil while something is.
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

/// The time that a record has been, or was, in a share of a tree.
package struct StoredStay: Sendable, Equatable {
    package let share: ShareNumber
    /// Its place in the feed: the last change that a participant is to see.
    package var position: Position
    package let record: RecordNumber
    /// The position of the record's version.
    package var version: Position
    /// The number of the record's type.
    package var type: Int64
    package let entered: Position
    /// The position at which the record left the tree, not after `position`; nil while it is in it.
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

/// Which share covers a record, and where its stay lies.
package struct StoredCover: Sendable, Equatable {
    package let share: ShareNumber
    package let position: Position

    package init(share: ShareNumber, position: Position) {
        self.share = share
        self.position = position
    }
}

/// Where a record lies and what it is called.
package struct RecordPlace: Sendable, Equatable {
    package let zone: ZoneNumber
    package let name: RecordName
    /// Of its current version or tombstone.
    package let position: Position

    package init(zone: ZoneNumber, name: RecordName, position: Position) {
        self.zone = zone
        self.name = name
        self.position = position
    }
}

/// Reading shares: part of every snapshot.
package protocol ShareReading: AnyObject {
    func share(_ number: ShareNumber) throws -> StoredShare?

    /// The standing share whose tree starts at the record.
    func share(ofRoot root: RecordNumber) throws -> StoredShare?

    /// The standing share that the record is the share record of.
    func share(ofRecord record: RecordNumber) throws -> StoredShare?

    /// The standing shares of a zone, at most `limit` of them.
    func shares(in zone: ZoneNumber, limit: Int) throws -> [StoredShare]

    /// In no particular order.
    func participants(of share: ShareNumber) throws -> [StoredParticipant]

    /// Those who ask to take part in a share, and those who may not: the longest waiting first.
    func accessRequests(of share: ShareNumber) throws -> [StoredAccessRequest]

    /// How often a user has asked to take part in anything since a moment.
    func accessRequestCount(of user: UserRecordName, since moment: Milliseconds) throws -> Int

    /// When the share's record was last written anew because somebody had asked; 0 for never.
    func requestsTold(of share: ShareNumber) throws -> Milliseconds

    /// The user's part in standing shares, whatever its status.
    func participations(of user: UserRecordName) throws -> [(ShareNumber, StoredParticipant)]

    /// The invitations to standing shares that name an address.
    func invitations(to address: String) throws -> [(ShareNumber, StoredParticipant)]

    /// The short identifier of a record; it stays when sharing ends.
    func shortGUID(of record: RecordNumber) throws -> String?

    /// The record that a short identifier leads to, shared or not.
    func record(ofShortGUID value: String) throws -> RecordNumber?

    /// What a viewer has of a share now; nil for nothing.
    func grant(of share: ShareNumber, to viewer: UserRecordName) throws -> StoredGrant?

    /// The grants of a viewer in a zone that changed after a position, revoked ones too, by the
    /// position of their last change.
    func grants(
        of viewer: UserRecordName, in zone: ZoneNumber, changedAfter: Position
    ) throws -> [StoredGrant]

    /// A zone as a viewer has it or had it; nil for one that he never had.
    func view(of viewer: UserRecordName, in zone: ZoneNumber) throws -> StoredView?

    /// The shared database feed of a viewer: zones that he has and has lost, by the position of their
    /// last change.
    func views(of viewer: UserRecordName, changedAfter: Position, limit: Int) throws -> [StoredView]

    /// The position of the last change in a viewer's shared database; 0 for none.
    func lastViewChange(of viewer: UserRecordName) throws -> Position

    /// The zones that a viewer has now, by their owners' names and their own.
    func zonesViewed(by viewer: UserRecordName) throws -> [StoredZone]

    /// The position below which a viewer's database tokens have expired.
    func viewsWholeAfter(of viewer: UserRecordName) throws -> Position

    /// The standing share that covers a record as far as its tree has been worked through.
    func cover(of record: RecordNumber) throws -> StoredCover?

    /// Stays of a share after a position, in order, at most `limit` of them.
    ///
    /// - Parameters:
    ///   - zone: the share's.
    ///   - withVersions: whether those that are still in the share bring their versions along.
    func stays(
        of share: ShareNumber, in zone: ZoneNumber, after: Position, limit: Int,
        withVersions: Bool
    ) throws -> StayRun

    /// What changed after a position in the shares of a zone that a viewer had then and has still: their
    /// stays with versions, one share after the other.
    ///
    /// - Returns: nil when a share came or went since, and when there are more than `limit` stays.
    func changedStays(
        of viewer: UserRecordName, in zone: ZoneNumber, after: Position, limit: Int
    ) throws -> StayRun?

    /// Whether a share's tree has been worked through.
    func isWhole(_ share: ShareNumber) throws -> Bool

    /// Whether all trees of a zone have been worked through.
    func isWhole(_ zone: ZoneNumber) throws -> Bool
}

/// Changing shares: part of every write.
package protocol ShareWriting: ShareReading {
    /// Whether a zone has trees of shares to keep: one that is shared, or one not worked through yet.
    func keepsTrees(_ zone: ZoneNumber) throws -> Bool

    /// Makes a share, which takes the next position. What it covers is the caller's to say, by `enter`.
    ///
    /// - Parameter root: nil for a share of the whole zone.
    func makeShare(
        in zone: ZoneNumber, record: RecordNumber, root: RecordNumber?,
        publicPermission: SharePermission
    ) throws -> StoredShare

    func setPublicPermission(_ permission: SharePermission, of share: ShareNumber) throws

    func setAllowsRequests(_ allows: Bool, of share: ShareNumber) throws

    /// Notes that a user has asked to take part in something.
    ///
    /// - Parameter share: nil where nobody is to see it; it counts all the same.
    func noteRequest(of user: UserRecordName, for share: ShareNumber?) throws

    /// Makes those who ask, and those who may not, these; who is not among them may ask again.
    func replaceRequests(of share: ShareNumber, by requests: [StoredAccessRequest]) throws

    /// Forgets whatever a user has asked, and that they may not ask.
    func forgetRequests(of user: UserRecordName) throws

    /// Notes that the share's record has been written anew because somebody had asked.
    func noteRequestsTold(of share: ShareNumber) throws

    /// Ends a share at the next position: whoever had it loses it, its participants are forgotten.
    func endShare(_ share: ShareNumber) throws

    /// Adds a participant, or replaces the one with the same id.
    func save(_ participant: StoredParticipant, of share: ShareNumber) throws

    /// Forgets a participant; what was granted to him stays until `revoke`.
    func removeParticipant(_ id: String, of share: ShareNumber) throws

    /// Gives a record its short identifier, which nothing else may have.
    func setShortGUID(_ value: String, of record: RecordNumber) throws

    /// Lets a viewer see a standing share from the next position on; only changes the permission of
    /// one who has it.
    func grant(
        _ share: StoredShare, to viewer: UserRecordName, permission: SharePermission) throws

    /// Ends what a viewer sees of a share, at the next position; does nothing when it is nothing.
    func revoke(_ share: ShareNumber, from viewer: UserRecordName) throws

    /// Notes that a record is in a share, at a position just taken.
    func enter(_ stay: StoredStay) throws

    /// Moves the stay of a covered record to a position just taken, as its version has moved there.
    func renew(
        _ record: RecordNumber, _ cover: StoredCover, at position: Position, type: Int64)
        throws

    /// Notes that a record is no longer in a share, at a position just taken.
    ///
    /// - Parameter left: when it left the tree; not after `position`.
    func leave(
        _ record: RecordNumber, _ cover: StoredCover, at position: Position, left: Position) throws

    /// Notes which shares the queued work `cover` of a record concerns: they are not whole until it is
    /// finished, which takes the notes away.
    ///
    /// - Parameter since: when the record's children left or joined them.
    func markCoverWork(
        _ record: RecordNumber, in zone: ZoneNumber, concerning shares: [ShareNumber],
        since: Position) throws

    /// When the children of a record left a share that the work on them concerns.
    func coverWorkSince(_ record: RecordNumber, concerning share: ShareNumber) throws -> Position?
}
