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
        /// Where the record's version was read; nil until it is.
        var version: (run: MembershipRun, index: Int)?
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
    /// What was read last, perhaps with versions.
    private var run: MembershipRun?
    /// Memberships that were read, and how many of them are behind.
    private var memberships: [StoredMembership] = []
    private var next = 0
    /// Whether nothing follows what was read.
    private var isLast = false
    private let readsVersions: Bool

    private static let chunkMax = 256

    /// - Parameters:
    ///   - seenThrough: the position that the viewer has read the share's changes up to.
    ///   - chunk: how many memberships are read at first.
    ///   - readsVersions: whether they are read with their versions.
    init(_ grant: StoredGrant, seenThrough: Position, chunk: Int, readsVersions: Bool) {
        self.grant = grant
        self.seenThrough = seenThrough
        self.chunk = min(chunk, Self.chunkMax)
        self.readsVersions = readsVersions
    }

    /// Shows the memberships that came with the share, beginning after the last one that was shown already.
    mutating func showArrivals(after shown: Position) {
        // If the viewer has lost the share again, they are told only what is gone.
        if grant.revoked == nil { arrivesAfter = shown }
        seenThrough = max(seenThrough, grant.granted)
    }

    /// What comes next of the stream.
    enum Next {
        case row(at: Position)
        /// Nothing that comes is before this position, and what it is must be read.
        case unread(from: Position)
        case ended
    }

    /// What comes next, as far as it was read.
    mutating func peek() -> Next {
        while true {
            let membership = next < memberships.count ? memberships[next] : nil
            switch phase {
            case nil: begin()
            case .arrivals:
                if membership == nil, !isLast { return .unread(from: grant.granted) }
                if let membership, membership.position <= grant.granted {
                    return .row(at: grant.granted)
                }
                // The rest of what was read are changes: the viewer saw nothing of the share before it came.
                phase = .changes
            case .changes:
                if membership == nil, !isLast {
                    return .unread(from: min(readThrough + 1, grant.revoked ?? .max))
                }
                if let membership, grant.revoked.map({ membership.position < $0 }) ?? true {
                    return .row(at: membership.position)
                }
                if grant.revoked == nil {
                    phase = .ended
                } else {
                    begin(.exits, after: departsAfter)
                }
            case .exits:
                guard let revoked = grant.revoked, membership != nil || !isLast else {
                    phase = .ended
                    continue
                }
                return membership == nil ? .unread(from: revoked) : .row(at: revoked)
            case .ended: return .ended
            }
        }
    }

    /// The row that `peek` has told of; nil where it has told of none.
    mutating func take(at feedPosition: Position) -> Row? {
        guard next < memberships.count else { return nil }
        let kind: Row.Kind =
            switch phase {
            case .arrivals: .arrival
            case .exits: .exit
            default: .change
            }
        defer { next += 1 }
        return Row(
            kind: kind, feedPosition: feedPosition, membership: memberships[next],
            version: readsVersions ? run.map { ($0, next) } : nil,
            isGranted: grant.revoked == nil, granted: grant.granted, seenThrough: seenThrough)
    }

    /// How far the share's memberships were read.
    private var readThrough: Position { memberships.last?.position ?? after }

    /// How many more memberships the stream would have read; none where it has enough of them.
    ///
    /// One that brings versions along goes through each run before it reads the next.
    var wanted: Int {
        let left = memberships.count - next
        if isLast || left * 2 > chunk || (readsVersions && left > 0) { return 0 }
        return chunk - left
    }

    /// The question for what is wanted.
    var question: MembershipSelection {
        .share(grant.share, after: readThrough, limit: wanted, withVersions: readsVersions)
    }

    /// Takes the answer to `question`; nil where nothing follows.
    mutating func append(_ read: MembershipRun?) {
        after = readThrough
        memberships.removeFirst(next)
        next = 0
        memberships += read?.memberships ?? []
        isLast = read?.isLast ?? true
        run = read
        chunk = min(chunk * 4, Self.chunkMax)
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
        (memberships, next, isLast) = ([], 0, false)
    }
}

/// Takes rows from several streams in the order of their places.
///
/// What streams lack is asked for together: that of the first in order, and of those that come next.
struct StreamMerge {
    private var streams: [SharedStream]
    private let zone: ZoneNumber
    /// A heap of the streams that have rows left, by the place of their next row, or before which none comes.
    private var heap: [(feedPosition: Position, stream: Int)] = []
    private var isBegun = false

    /// How many memberships one question asks for, unless the first stream alone wants more.
    static let readMax = 1_024

    init(_ streams: [SharedStream], in zone: ZoneNumber) {
        self.streams = streams
        self.zone = zone
    }

    /// The next rows, at most `limit`; none after the last.
    mutating func next(_ limit: Int, _ snapshot: any StoreSnapshot) throws -> [SharedStream.Row] {
        if !isBegun {
            isBegun = true
            order(streams.indices)
        }
        var rows: [SharedStream.Row] = []
        while rows.count < limit, let first = heap.first {
            if case .unread = streams[first.stream].peek() {
                try read(snapshot)
                order(heap.map(\.stream))
            } else {
                if let row = streams[first.stream].take(at: first.feedPosition) { rows.append(row) }
                settleFirst()
            }
        }
        return rows
    }

    /// Reads for the first stream, and for those next in order that want something.
    private mutating func read(_ snapshot: any StoreSnapshot) throws {
        var left = Self.readMax
        var asked: [Int] = []
        for (_, index) in heap.sorted(by: { $0.feedPosition < $1.feedPosition }) {
            let wanted = streams[index].wanted
            guard wanted > 0 else { continue }
            guard asked.isEmpty || wanted <= left else { break }
            left -= wanted
            asked.append(index)
        }
        let runs = try snapshot.memberships(asked.map { streams[$0].question }, in: zone)
        for (index, run) in zip(asked, runs) { streams[index].append(run) }
    }

    /// Makes the heap of streams of which more was read.
    private mutating func order(_ indices: some Sequence<Int>) {
        heap = []
        for index in indices {
            if let position = position(of: index) { heap.append((position, index)) }
        }
        heap.sort { $0.feedPosition < $1.feedPosition }
    }

    /// Where a stream's next row is, or before which none comes; nil after the last.
    private mutating func position(of stream: Int) -> Position? {
        switch streams[stream].peek() {
        case .row(let position), .unread(let position): position
        case .ended: nil
        }
    }

    /// Moves the first entry to where it belongs now.
    private mutating func settleFirst() {
        if let position = position(of: heap[0].stream) {
            heap[0].feedPosition = position
        } else {
            heap[0] = heap[heap.count - 1]
            heap.removeLast()
        }
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
