import Storage

/// Which feeds somebody follows from the disk, and how far each of them has been read ahead.
///
/// Decides alone what is read next. A page that met the disk begins it. From then on a stretch is read whenever
/// somebody asks for a page that brings them within half of what may lie ahead.
struct FollowedFeeds: Sendable {
    /// Bytes that are read ahead of a page at most.
    let bytesMax: Int
    /// How many feeds are read ahead at a time; one more takes the place of the one unused the longest.
    let feedsMax: Int

    /// After so many stretches that were in memory already, nobody reads a feed ahead any more.
    ///
    /// The system reads ahead by itself, and further than a stretch. What it has read so is in memory.
    static let warmStretchesMax = 32

    /// A part of a feed that is to be read.
    struct Stretch: Sendable, Equatable {
        let feed: Int
        let zone: ZoneNumber
        let newestFirst: Bool
        /// It begins behind this position, or newest first below it.
        let from: Position
        let bytes: Int
        /// The bytes from its beginning to the place from which the next stretch is wanted.
        let bytesToMiddle: Int
    }

    /// How a stretch was read.
    struct Outcome: Sendable, Equatable {
        var middle: Position
        var end: Position
        /// Whether any of it came from the disk.
        var isCold: Bool
        /// Whether the zone has nothing behind it.
        var isLast: Bool
        /// Of the rows that were read.
        var bytes = 0
    }

    private struct Feed {
        let number: Int
        let store: ObjectIdentifier
        let zone: ZoneNumber
        let newestFirst: Bool
        /// Where the next page will begin.
        var next: Position
        /// From here on the next stretch is wanted.
        var middle: Position
        /// How far it was read.
        var end: Position
        var isReading = false
        var warmStretches = 0

        /// Whether a place is at another one or beyond, in the order of the feed.
        func has(_ place: Position, reached other: Position) -> Bool {
            newestFirst ? place <= other : place >= other
        }
    }

    /// Those used last at the end.
    private var feeds: [Feed] = []
    private var lastNumber = 0

    init(bytesMax: Int, feedsMax: Int) {
        self.bytesMax = bytesMax
        self.feedsMax = feedsMax
    }

    var isEmpty: Bool { feeds.isEmpty }

    /// Takes note of a page that somebody got.
    ///
    /// - Parameter isCold: whether some of the page came from the disk.
    /// - Returns: what is to be read now, if anything.
    mutating func note(_ step: FeedStep, of store: ObjectIdentifier, isCold: Bool) -> Stretch? {
        let known = feeds.firstIndex {
            $0.store == store && $0.zone == step.zone && $0.newestFirst == step.newestFirst
                && $0.next == step.began
        }
        if let known {
            var feed = feeds.remove(at: known)
            feed.next = step.ended
            feeds.append(feed)
            return takeLast()
        }
        guard isCold, feedsMax > 0 else { return nil }
        if feeds.count >= feedsMax { feeds.removeFirst() }
        lastNumber += 1
        feeds.append(
            Feed(
                number: lastNumber, store: store, zone: step.zone, newestFirst: step.newestFirst,
                next: step.ended, middle: step.ended, end: step.ended))
        return takeLast()
    }

    /// Takes note of how a stretch was read.
    ///
    /// - Parameter outcome: nil when it could not be read.
    /// - Returns: what is to be read now, if anything.
    mutating func note(_ outcome: Outcome?, of stretch: Stretch) -> Stretch? {
        guard let place = feeds.firstIndex(where: { $0.number == stretch.feed }) else { return nil }
        var feed = feeds[place]
        feed.warmStretches = outcome?.isCold ?? true ? 0 : feed.warmStretches + 1
        guard let outcome, !outcome.isLast, feed.warmStretches < Self.warmStretchesMax else {
            feeds.remove(at: place)
            return nil
        }
        feed.isReading = false
        (feed.middle, feed.end) = (outcome.middle, outcome.end)
        feeds[place] = feed
        return take(place)
    }

    /// Whether somebody follows the feed of a stretch still.
    func isWanted(_ stretch: Stretch) -> Bool { feeds.contains { $0.number == stretch.feed } }

    /// Whether any feed of a store is followed.
    func follows(_ store: ObjectIdentifier) -> Bool { feeds.contains { $0.store == store } }

    /// Of a store that is being closed.
    mutating func forget(_ store: ObjectIdentifier) { feeds.removeAll { $0.store == store } }

    private mutating func takeLast() -> Stretch? { take(feeds.count - 1) }

    private mutating func take(_ place: Int) -> Stretch? {
        let feed = feeds[place]
        guard !feed.isReading, feed.has(feed.next, reached: feed.middle) else { return nil }
        feeds[place].isReading = true
        // Whoever has come further than what was read begins anew from there.
        let isAhead = !feed.has(feed.next, reached: feed.end)
        let bytes = isAhead ? bytesMax / 2 : bytesMax
        return Stretch(
            feed: feed.number, zone: feed.zone, newestFirst: feed.newestFirst,
            from: isAhead ? feed.end : feed.next, bytes: bytes,
            bytesToMiddle: bytes - bytesMax / 2)
    }
}
