import Storage
import Synchronization

/// How an answer has waited that is made again now.
final class AnswerWait: Sendable {
    /// How often it came too early.
    let count: Int
    /// When that first happened, in nanoseconds.
    let since: UInt64
    /// From before the look that comes now, for the case that it comes too early once more.
    private let watch: Mutex<CommitWatch?>

    init(count: Int, since: UInt64, _ watch: CommitWatch) {
        self.count = count
        self.since = since
        self.watch = Mutex(watch)
    }

    /// The watch, if it is of these places; any other ends with this.
    func takeWatch(of parts: Set<StorePart>) -> CommitWatch? {
        watch.withLock { watch in
            guard let taken = watch, taken.parts == parts else { return nil }
            watch = nil
            return taken
        }
    }

    deinit { watch.withLock { $0 }?.end() }
}
