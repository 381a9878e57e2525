import Storage

/// What one share adds to a viewer's feed, in the order of places.
///
/// First comes what was in the share when they accepted it, unless they know it. Then comes what has changed
/// in it since. Last comes what was in it when they lost it.
struct SharedStream {
    /// One stay, at its place in the feed.
    struct Row {
        enum Kind {
            /// The record was in the share when the viewer accepted it.
            case arrival
            /// The record came, changed or left.
            case change
            /// The record was in the share when the viewer lost it.
            case exit
        }

        let kind: Kind
        let feedPosition: Position
        let membership: StoredMembership
        /// Where the membership was read, perhaps with its version.
        let run: MembershipRun
        let index: Int
        /// Whether the viewer has the share now.
        let isGranted: Bool
        let granted: Position
        /// The viewer was never shown stays that began after this position, before this page.
        let seenThrough: Position
    }

    private let grant: StoredGrant
    /// The position that the viewer has read the share's changes up to.
    private var seenThrough: Position
    private var chunk: Int
    /// How far the memberships that came with the share were shown; nil when none are to be shown.
    private var arrivesAfter: Position?
    /// How far the memberships that went with the share were shown.
    var departsAfter: Position = 0

    private enum Phase { case arrivals, changes, exits, ended }
    private var phase: Phase?
    private var after: Position = 0
    private var run: MembershipRun?
    private var next = 0
    /// Where this stream's part of the run ends.
    private var end = 0
    private let readsVersions: Bool

    private static let chunkMax = 256

    /// - Parameters:
    ///   - seenThrough: the position that the viewer has read the share's changes up to.
    ///   - chunk: how many stays are read at first.
    ///   - readsVersions: whether they are read with their versions.
    init(_ grant: StoredGrant, seenThrough: Position, chunk: Int, readsVersions: Bool) {
        self.grant = grant
        self.seenThrough = seenThrough
        self.chunk = max(1, min(chunk + 1, Self.chunkMax))
        self.readsVersions = readsVersions
    }

    /// Shows the memberships that came with the share, beginning after the last one that was shown already.
    mutating func showArrivals(after shown: Position) {
        // If the viewer has lost the share again, they are told only what is gone.
        if grant.revoked == nil { arrivesAfter = shown }
        seenThrough = max(seenThrough, grant.granted)
    }

    /// The place of the next row; nil after the last.
    ///
    /// Reads no more than it must.
    mutating func nextFeedPosition(_ snapshot: any StoreSnapshot) throws -> Position? {
        while true {
            switch phase {
            case nil: begin()
            case .arrivals:
                if let membership = try peek(snapshot), membership.position <= grant.granted {
                    return grant.granted
                }
                // The rest of the run are changes: the viewer saw nothing of the share before it came.
                phase = .changes
            case .changes:
                if let membership = try peek(snapshot),
                    grant.revoked.map({ membership.position < $0 }) ?? true
                {
                    return membership.position
                }
                if grant.revoked == nil {
                    phase = .ended
                } else {
                    begin(.exits, after: departsAfter)
                }
            case .exits:
                if try peek(snapshot) != nil { return grant.revoked }
                phase = .ended
            case .ended: return nil
            }
        }
    }

    /// The next row, which `nextFeedPosition` has found.
    ///
    /// - Returns: nil when `nextFeedPosition` has found none.
    mutating func take(at feedPosition: Position) -> Row? {
        guard let run, next < end else { return nil }
        let kind: Row.Kind =
            switch phase {
            case .arrivals: .arrival
            case .exits: .exit
            default: .change
            }
        defer { next += 1 }
        return Row(
            kind: kind, feedPosition: feedPosition, membership: run.memberships[next], run: run,
            index: next,
            isGranted: grant.revoked == nil, granted: grant.granted, seenThrough: seenThrough)
    }

    private mutating func begin() {
        if let arrivesAfter {
            begin(.arrivals, after: arrivesAfter)
        } else {
            begin(.changes, after: seenThrough)
        }
    }

    private mutating func begin(_ phase: Phase, after: Position) {
        self.phase = phase
        self.after = after
        run = nil
        (next, end) = (0, 0)
    }

    private mutating func peek(_ snapshot: any StoreSnapshot) throws -> StoredMembership? {
        while true {
            if let run {
                if next < end { return run.memberships[next] }
                guard !run.isLast else { return nil }
                if let last = run.memberships.last { after = last.position }
            }
            let read = try snapshot.memberships(
                of: grant.share, in: grant.zone, after: after, limit: chunk,
                withVersions: readsVersions)
            run = read
            (next, end) = (0, read.memberships.count)
            chunk = min(chunk * 4, Self.chunkMax)
        }
    }
}

/// Takes rows from several streams in the order of their places.
struct StreamMerge {
    private var streams: [SharedStream]
    /// A heap of the streams that have rows left, by the place of their next row.
    private var heap: [(feedPosition: Position, stream: Int)] = []
    private var isBegun = false

    init(_ streams: [SharedStream]) { self.streams = streams }

    mutating func next(_ snapshot: any StoreSnapshot) throws -> SharedStream.Row? {
        if !isBegun {
            isBegun = true
            for index in streams.indices {
                guard let feedPosition = try streams[index].nextFeedPosition(snapshot) else {
                    continue
                }
                heap.append((feedPosition, index))
            }
            heap.sort { $0.feedPosition < $1.feedPosition }
        } else if let first = heap.first {
            if let feedPosition = try streams[first.stream].nextFeedPosition(snapshot) {
                heap[0].feedPosition = feedPosition
            } else {
                heap[0] = heap[heap.count - 1]
                heap.removeLast()
            }
            sink()
        }
        guard let first = heap.first else { return nil }
        return streams[first.stream].take(at: first.feedPosition)
    }

    /// Moves the first entry to where it belongs.
    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].feedPosition < heap[least].feedPosition {
                least = child
            }
            guard least != index else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
