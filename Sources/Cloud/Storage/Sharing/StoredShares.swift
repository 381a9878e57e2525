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
    package var publicPermission: SharePermission
    /// Whether others may ask to take part.
    package var allowsRequests: Bool
    /// The position at which it was made.
    package let created: Position
    /// The position at which it ended; nil while it stands.
    package let ended: Position?
    /// When its record was last saved anew because somebody had asked to take part; nil for never.
    package var requestsToldAt: Milliseconds?

    package init(
        number: ShareNumber, zone: ZoneNumber, record: RecordNumber, root: RecordNumber?,
        publicPermission: SharePermission, allowsRequests: Bool = false, created: Position,
        ended: Position?, requestsToldAt: Milliseconds? = nil
    ) {
        self.requestsToldAt = requestsToldAt
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

    /// Whether this is a one-time link: the first who opens it becomes the participant (rulings.md 49).
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
    /// When they asked; nil for a person who was blocked without having asked.
    package let madeAt: Milliseconds?
    package var isBlocked: Bool

    /// How long a request counts towards its user's limit: a day.
    package static let countedMilliseconds: Milliseconds = 86_400_000

    package init(user: UserRecordName, madeAt: Milliseconds?, isBlocked: Bool) {
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

/// How a record's membership moves, at a position that was just taken.
package struct MembershipMove: Sendable {
    /// What covers the record from then on.
    package struct Next: Sendable {
        package let share: ShareNumber
        /// The position of the record's version.
        package let version: Position
        /// The number of the record's type.
        package let type: Int64

        package init(_ share: ShareNumber, version: Position, type: Int64) {
            self.share = share
            self.version = version
            self.type = type
        }
    }

    package let record: RecordNumber
    package let position: Position
    /// Where it was; nil where the record comes into a share.
    package let previous: CurrentMembership?
    /// The same share where it moves on with the record's version; nil where the record leaves.
    package let next: Next?
    /// When the record left the tree, where it leaves; not after `position`.
    package let left: Position

    /// A record comes into a share, or moves on in the one that covers it.
    package init(
        _ record: RecordNumber, at position: Position, from previous: CurrentMembership? = nil,
        into next: Next
    ) {
        (self.record, self.position, self.previous, self.next) = (record, position, previous, next)
        left = position
    }

    /// A record leaves the share that covers it.
    package init(
        _ record: RecordNumber, at position: Position, outOf previous: CurrentMembership,
        left: Position
    ) {
        (self.record, self.position, self.previous, next) = (record, position, previous, nil)
        self.left = left
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
