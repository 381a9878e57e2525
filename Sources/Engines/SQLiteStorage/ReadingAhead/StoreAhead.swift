import Dispatch
import SQLite
import Storage
import Synchronization

/// Reads ahead of those who follow feeds of one store, on a thread and a connection of its own.
///
/// Its snapshots are short. What it meets that is damaged, or cannot be read, is told by whoever is shown it.
final class StoreAhead: Sendable {
    private let all: ReadAhead
    private let readers: ReaderPool
    private let queue = DispatchQueue(label: "sqlite.read-ahead")
    private let isClosed = Atomic<Bool>(false)
    // Touched on the queue only; there is none while nobody follows a feed from the disk.
    private nonisolated(unsafe) var opened: Reader?

    /// Bytes that one snapshot reads at most, beside its last row.
    private static let snapshotBytesMax = 65_536
    /// Memory for pages: each is needed once.
    private static let cacheKiB = 256

    init(_ all: ReadAhead, path: String, _ options: ReaderPool.Options) {
        self.all = all
        var options = options
        options.cacheKiB = Self.cacheKiB
        readers = ReaderPool(path: path, options: options)
    }

    /// How much the calling thread has read from the disk so far.
    var diskReads: Int { all.options.diskReads() }

    /// Takes note of a page that the calling thread has read, and begins to read what comes behind it.
    ///
    /// - Parameter isCold: whether some of it came from the disk.
    func expect(pageAfter step: FeedStep, isCold: Bool) {
        let id = ObjectIdentifier(self)
        guard !isClosed.load(ordering: .relaxed),
            let stretch = all.withFeeds({ $0.note(step, of: id, isCold: isCold) })
        else { return }
        begin(stretch)
    }

    /// Ends what is being read, and returns when the connection is closed.
    func close() {
        isClosed.store(true, ordering: .relaxed)
        all.withFeeds { $0.forget(ObjectIdentifier(self)) }
        queue.sync { opened = nil }
    }

    private func begin(_ stretch: FollowedFeeds.Stretch) {
        queue.async {
            // NB: whoever asks for the page is told what is wrong.
            let outcome = try? self.read(stretch)
            let id = ObjectIdentifier(self)
            let (next, isFollowed) = self.all.withFeeds {
                ($0.note(outcome, of: stretch), $0.follows(id))
            }
            if outcome == nil || !isFollowed { self.opened = nil }
            if let outcome { self.all.noteRead(bytes: outcome.bytes) }
            if let next { self.begin(next) }
        }
    }

    private func read(_ stretch: FollowedFeeds.Stretch) throws -> FollowedFeeds.Outcome? {
        let before = diskReads
        var outcome = FollowedFeeds.Outcome(
            middle: stretch.from, end: stretch.from, isCold: false, isLast: false)
        while outcome.bytes < stretch.bytes, !outcome.isLast {
            guard !isClosed.load(ordering: .relaxed), all.withFeeds({ $0.isWanted(stretch) }) else {
                return nil
            }
            try reader().read(stretch, Self.snapshotBytesMax, into: &outcome)
        }
        outcome.isCold = diskReads > before
        return outcome
    }

    /// On the queue.
    private func reader() throws -> Reader {
        if let opened { return opened }
        let made = Reader(try readers.makeReader())
        opened = made
        return made
    }

    /// Goes along version rows without a look at what they say.
    private final class Reader {
        private let connection: Connection
        private let ascending: Statement
        private let descending: Statement

        init(_ connection: Connection) {
            self.connection = connection
            let rows = "SELECT key, content FROM version_rows"
            ascending = connection.statement(
                "\(rows) WHERE key > ?1 AND key <= ?2 ORDER BY key ASC")
            descending = connection.statement(
                "\(rows) WHERE key < ?1 AND key > ?2 ORDER BY key DESC")
        }

        /// Goes on with a stretch, within one snapshot.
        func read(
            _ stretch: FollowedFeeds.Stretch, _ bytesMax: Int,
            into outcome: inout FollowedFeeds.Outcome
        ) throws {
            let bytesMax = min(outcome.bytes + bytesMax, stretch.bytes)
            try connection.snapshot { _ in
                let rows = stretch.newestFirst ? descending : ascending
                defer { rows.reset() }
                rows.bind(SQLiteSnapshot.key(stretch.zone, outcome.end), at: 1)
                let last = stretch.newestFirst ? 0 : SQLiteSnapshot.positionMask
                rows.bind(SQLiteSnapshot.key(stretch.zone, last), at: 2)
                while outcome.bytes < bytesMax {
                    guard try rows.step() else {
                        outcome.isLast = true
                        return
                    }
                    // Only this brings the pages of a long row.
                    outcome.bytes += rows.bytes(1).count
                    outcome.end = rows.int64(0) & SQLiteSnapshot.positionMask
                    if outcome.bytes <= stretch.bytesToMiddle { outcome.middle = outcome.end }
                }
            }
        }
    }
}
