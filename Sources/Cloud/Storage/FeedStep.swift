/// A page of a zone's feed that was read, and behind which there is more.
package struct FeedStep: Sendable, Hashable {
    package let zone: ZoneNumber
    package let newestFirst: Bool
    /// The page began behind this position, or newest first below it.
    package let began: Position
    /// Where the next page will begin, in the same sense.
    package let ended: Position

    package init(zone: ZoneNumber, newestFirst: Bool, began: Position, ended: Position) {
        self.zone = zone
        self.newestFirst = newestFirst
        self.began = began
        self.ended = ended
    }
}
