import CloudModel

/// Who follows all changes of a store: one name for each reader, which outlives the process.
package struct FollowerName: Hashable, Sendable {
    package let text: String

    package init(_ text: StaticString) { self.text = "\(text)" }
}

/// Records of which a follower wants to know how they were before a change.
package struct FormerWanted: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// All zones of an owner, those to come with them; the public database has the owner 0.
        case owner(OwnerNumber)
        case zone(ZoneNumber)
    }

    package let place: Place
    /// The number of a record type in the store's schema; nil for all types.
    package let type: Int64?

    package init(_ place: Place, type: Int64? = nil) {
        self.place = place
        self.type = type
    }
}

/// Who changes something, by which device.
package struct ChangeAuthor: Hashable, Sendable {
    package let user: UserRecordName
    /// The `clientId` of the request; nil for one that named none.
    package let device: String?

    package init(user: UserRecordName, device: String?) {
        self.user = user
        self.device = device
    }
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
    /// What a person is shown of a zone has changed: a share was given to them, or taken from them.
    case sight = 5
    /// A share ended for all who had it.
    case shareEnded = 6
}

/// One change of a store, as a follower reads it.
///
/// What points into the store is valid only while the visiting closure runs.
package struct FollowedChange {
    package let position: Position
    package let kind: ChangeKind
    package let zone: ZoneNumber
    /// Of a record that was saved or deleted.
    package let record: RecordNumber?
    /// Nil where `record` is, and for a record of which nothing is left.
    package let name: RecordName?
    /// Whose sight has changed; of `sight` alone.
    package let person: UserRecordName?
    /// The number of the record's type; nil for changes of no record, and for those of an earlier version.
    package let type: Int64?
    /// Whether the record was there before.
    package let wasAlive: Bool
    /// Who made the change; nil for the server itself.
    package let author: ChangeAuthor?
    /// The record as the change left it, or its tombstone.
    ///
    /// Nil when a later change has taken its place, and that one was not to keep how the record was before.
    package let version: StoredVersion?
    /// The record as it was before.
    ///
    /// Nil for one that was not alive, and where nobody had asked for it when the change was made.
    package let former: StoredVersion?

    package init(
        position: Position, kind: ChangeKind, zone: ZoneNumber, record: RecordNumber?,
        name: RecordName?, person: UserRecordName?, type: Int64?, wasAlive: Bool,
        author: ChangeAuthor?, version: StoredVersion?, former: StoredVersion?
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
        self.former = former
    }
}

/// A follower has fallen so far behind that changes went which it has not seen: it must begin anew.
///
/// Whatever it has made of former changes may be wrong by now. It looks at the store as it is, and follows from there.
package struct FollowerFellBehind: Error, Sendable, Equatable {
    package let follower: FollowerName

    package init(_ follower: FollowerName) { self.follower = follower }
}

/// What a snapshot tells those who follow a store.
package protocol ChangeReading: AnyObject {
    /// The store's last position.
    func lastPosition() throws -> Position

    /// Through which change a follower has come; nil for one that does not follow.
    ///
    /// - Throws: `FollowerFellBehind` for one that was let go, until it ends to follow.
    func position(of follower: FollowerName) throws -> Position?

    /// All changes after a position, in the order in which they were committed, until the closure answers
    /// false or `limit` were visited: of every zone of every owner, default zones and the public database
    /// with them, deletions included.
    ///
    /// Complete for positions that a follower has not gone past.
    ///
    /// - Returns: the position of the last change that was visited; nil for none.
    func changes(
        after position: Position, limit: Int, _ visit: (FollowedChange) throws -> Bool
    ) throws -> Position?
}

/// How somebody begins, goes on and ends to follow a store.
///
/// While nobody follows, changes are noted nowhere and a write pays nothing for it. While somebody does,
/// each change leaves a row in its own transaction, and the row stays until all followers have gone past.
/// So a follower that comes back after a restart or a crash goes on where it last said it was: it sees each
/// change once, or again, and misses none. Whoever stops coming for good must `unfollow`.
///
/// So many changes are kept at most as the store was told (`followerChangesMax`). A follower that is further
/// behind is let go by the write that goes beyond: what was kept for it alone is forgotten, and it is told so by
/// `FollowerFellBehind` whenever it comes back.
package protocol ChangeFollowing: AnyObject {
    /// Says who makes the changes that follow in the transaction; followers are told.
    func act(as author: ChangeAuthor)

    /// Begins to follow; somebody who follows already goes on.
    ///
    /// - Returns: the position from which on changes are there.
    /// - Throws: `FollowerFellBehind` for one that was let go and has not ended to follow since.
    func follow(as follower: FollowerName) throws -> Position

    /// Says of which records the follower wants the former versions from now on, and of no others.
    ///
    /// For a follower only; others have none.
    func want(_ wanted: Set<FormerWanted>, for follower: FollowerName) throws

    /// Says of which further records a follower wants the former versions; costs little for what it wants
    /// already.
    func wantAlso(_ wanted: FormerWanted, for follower: FollowerName) throws

    /// Notes that a follower has dealt with all changes through a position; it never goes back.
    func advance(_ follower: FollowerName, through position: Position) throws

    /// Ends to follow, and forgets what was kept for it alone.
    func unfollow(_ follower: FollowerName) throws
}
