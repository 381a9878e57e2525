import CloudModel

/// The name of a follower: a reader that follows all changes of a store.
///
/// The name outlives the process, so that the reader goes on after a restart.
package struct FollowerName: Hashable, Sendable {
    package let text: String

    package init(_ text: StaticString) { self.text = "\(text)" }
}

/// A group of records for which a follower wants the previous version with each change.
package struct PreviousVersionNeed: Hashable, Sendable {
    package enum Scope: Hashable, Sendable {
        /// All zones of an owner, also those made later; `UserRecordName.publicOwner` has the public database.
        case owner(UserRecordName)
        case zone(ZoneNumber)
    }

    package let scope: Scope
    /// The number of a record type in the store's schema; nil for all types.
    package let type: Int64?

    package init(_ scope: Scope, type: Int64? = nil) {
        self.scope = scope
        self.type = type
    }
}

/// Who makes a change, and on which device.
package struct ChangeAuthor: Hashable, Sendable {
    package let user: UserRecordName
    /// The `clientId` of the request; nil when the request named none.
    package let device: String?
    /// The `traceparent` of the request, for whom the change is told to; nil when it had none.
    package let trace: String?

    package init(user: UserRecordName, device: String?, trace: String? = nil) {
        self.user = user
        self.device = device
        self.trace = trace
    }

    /// The same without its trace, which does not tell who it was.
    package var untraced: ChangeAuthor { ChangeAuthor(user: user, device: device) }
}

/// What a change did.
package enum ChangeKind: Int64, Sendable {
    /// A record was saved.
    case saved = 1
    /// A record was deleted.
    case deleted = 2
    case zoneMade = 3
    /// A zone was deleted, with all of its records.
    case zoneDeleted = 4
    /// A zone shows a person more or less than before: they were given a share, or lost one.
    case sight = 5
    /// A share ended for all who had it.
    case shareEnded = 6
}

/// One change of a store, as a follower reads it.
///
/// Its pointers into the store are valid only while the visiting closure runs.
package struct FollowedChange {
    package let position: Position
    package let kind: ChangeKind
    package let zone: ZoneNumber
    /// The record that was saved or deleted; nil for other changes.
    package let record: RecordNumber?
    /// The record's name; nil when `record` is nil, and when nothing is left of the record.
    package let name: RecordName?
    /// For `sight` only: the person who is shown something else now.
    package let person: UserRecordName?
    /// The number of the record's type; nil for a change of no record.
    package let type: Int64?
    /// Whether the record existed before the change.
    package let wasAlive: Bool
    /// Who made the change; nil for the server itself.
    package let author: ChangeAuthor?
    /// The record as the change left it, or its tombstone.
    ///
    /// Nil when a later change has replaced it, unless that change had to keep the previous version of the
    /// record.
    package let version: StoredVersion?
    /// The record as it was before the change.
    ///
    /// Nil when the record did not exist, and when no follower wanted former versions as the change was made.
    package let previous: StoredVersion?

    package init(
        position: Position, kind: ChangeKind, zone: ZoneNumber, record: RecordNumber?,
        name: RecordName?, person: UserRecordName?, type: Int64?, wasAlive: Bool,
        author: ChangeAuthor?, version: StoredVersion?, previous: StoredVersion?
    ) {
        self.position = position
        self.kind = kind
        self.zone = zone
        self.record = record
        self.name = name
        self.person = person
        self.type = type
        self.wasAlive = wasAlive
        self.author = author
        self.version = version
        self.previous = previous
    }
}

/// A follower is so far behind that changes are gone which it has not seen: it must begin anew.
///
/// Whatever it derived from earlier changes may be wrong by now. It must look at the store as it is now, and
/// follow from there.
package struct FollowerFellBehind: Error, Sendable, Equatable {
    package let follower: FollowerName

    package init(_ follower: FollowerName) { self.follower = follower }
}

/// What a read tells those who follow a store.
package protocol ChangeReading: AnyObject {
    /// The last change that a follower has dealt with; nil when it does not follow.
    ///
    /// - Throws: `FollowerFellBehind` when the store has let the follower go, until it stops to follow.
    func position(of follower: FollowerName) throws -> Position?

    /// Visits all changes after a position, in the order of their commits.
    ///
    /// Changes of every zone of every owner are among them, and so are default zones, the public database and
    /// deletions. The visit ends when the closure returns false, or after `limit` changes. No change is
    /// missing after a position that a follower has not advanced beyond.
    ///
    /// - Returns: the position of the last change that was visited; nil when there was none.
    func changes(
        after position: Position, limit: Int, _ visit: (FollowedChange) throws -> Bool
    ) throws -> Position?
}

/// How a follower begins, goes on and stops to follow a store.
///
/// While nobody follows, the store notes no changes, and a write pays nothing for this. While somebody
/// follows, each change leaves a note in its own transaction. The note stays until all followers have advanced
/// beyond it. So a follower that comes back after a restart or a crash goes on at the position that it noted
/// last. It misses no change, and may see some a second time. A follower that will not come back must stop to follow.
///
/// The store keeps at most `followerChangesMax` changes. The write that goes beyond this lets go every
/// follower that is further behind: the store forgets the changes that it kept for it alone. Such a follower
/// gets `FollowerFellBehind` whenever it comes back.
package protocol ChangeFollowing: AnyObject {
    /// Begins to follow; a follower that follows already goes on. Costs little where nothing changes by it.
    ///
    /// - Parameters:
    ///   - wanted: for which records it wants previous versions from now on.
    ///   - alone: whether it wants no others any more.
    /// - Returns: the position from which on changes are kept.
    /// - Throws: `FollowerFellBehind` when the store has let the follower go and it has not stopped to follow since.
    @discardableResult
    func follow(
        as follower: FollowerName, wanting wanted: Set<PreviousVersionNeed>, alone: Bool
    ) throws -> Position

    /// Notes that a follower has dealt with all changes through a position; the note never moves back.
    ///
    /// - Parameter position: nil when it stops to follow: what the store kept for this follower alone is forgotten.
    func setPosition(_ position: Position?, of follower: FollowerName) throws
}

extension ChangeFollowing {
    /// Begins to follow, or goes on and wants what it wanted before.
    @discardableResult
    package func follow(as follower: FollowerName) throws -> Position {
        try follow(as: follower, wanting: [], alone: false)
    }

    /// Notes that a follower has dealt with all changes through a position.
    package func advance(_ follower: FollowerName, through position: Position) throws {
        try setPosition(position, of: follower)
    }

    /// Stops to follow.
    package func unfollow(_ follower: FollowerName) throws { try setPosition(nil, of: follower) }
}
