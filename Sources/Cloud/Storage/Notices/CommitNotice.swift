import CloudModel

/// A part of a store that somebody may wait for.
package enum StorePlace: Hashable, Sendable {
    /// Any change that took a position.
    case anything
    /// A zone of an owner: its records changed, or it was made or deleted.
    case owner(OwnerNumber)
    /// One zone: its records changed, it was deleted, or what shares cover of it, or who is shown it.
    case zone(ZoneNumber)
    /// One person: they became an owner, or were given a share, or lost one that was taken from them alone.
    ///
    /// Those who lose a share because it ends or because its zone is deleted hear of it by the zone.
    case person(UserRecordName)
    /// An index has become whole, or has gone.
    case indexes
    /// Something waits for a destination of notices, or it has gone.
    case destination(DestinationNumber)
    /// A sender has something to carry that it had not before.
    case senders
    /// Somebody follows the store's changes, or does no longer.
    case followers
}

/// What a commit has moved.
package struct CommitNotice: Sendable, Equatable {
    /// The store's last position after the commit; a reader that looks now sees all up to it.
    package let position: Position
    /// The places that moved and that somebody was waiting for.
    package let places: Set<StorePlace>

    package init(position: Position, places: Set<StorePlace>) {
        self.position = position
        self.places = places
    }
}
