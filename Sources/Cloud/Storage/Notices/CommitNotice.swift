import CloudModel

/// A part of a store whose changes somebody may wait for.
package enum StorePart: Hashable, Sendable {
    /// Any change that took a position.
    case anything
    /// The zones of an owner: records of one changed, or one was made or deleted.
    case owner(OwnerNumber)
    /// One zone.
    ///
    /// Its records changed, or it was deleted. Or shares cover other records of it, or other people see it.
    case zone(ZoneNumber)
    /// One person: they became an owner, were given a share, or lost one that was taken from them alone.
    ///
    /// When a share ends for everybody, or its zone is deleted, only the zone tells those who lose it.
    case person(UserRecordName)
    /// An index has become whole or is gone.
    case indexes
    /// A notice now waits for a destination, or the destination is gone.
    case destination(DestinationNumber)
    /// A sender has something new to send.
    case senders
    /// A follower began or stopped to follow the store's changes.
    case followers
    /// Work was queued.
    case work
}

/// What a commit changed.
package struct CommitNotice: Sendable, Equatable {
    /// The store's last position after the commit; a read that begins now sees everything up to it.
    package let position: Position
    /// The parts of the store that changed and for which somebody was waiting.
    package let parts: Set<StorePart>

    package init(position: Position, parts: Set<StorePart>) {
        self.position = position
        self.parts = parts
    }
}
