import Storage
import Synchronization

/// Reads ahead of those who follow feeds that are not in memory, for all stores of an engine.
///
/// What it reads stays in the system's cache of the file, and nowhere else.
package final class ReadAhead: Sendable {
    package struct Options: Sendable {
        /// Bytes of records that are read ahead of a page at most; 0 for none.
        package var bytesMax = 1_048_576
        /// How many feeds of all stores are read ahead at a time.
        package var feedsMax = 16
        /// How much the calling thread has read from the disk so far, in any unit.
        package var diskReads: @Sendable () -> Int = { DiskReads.ofThisThread }
        /// Told of the bytes of each stretch of a feed once it has been read.
        package var didRead: @Sendable (Int) -> Void = { _ in }

        package init() {}
    }

    let options: Options
    private let feeds: Mutex<FollowedFeeds>
    private let readBytes = Atomic<Int>(0)

    package init(_ options: Options) {
        self.options = options
        feeds = Mutex(
            FollowedFeeds(
                bytesMax: options.bytesMax,
                feedsMax: options.bytesMax > 0 ? options.feedsMax : 0))
    }

    /// Bytes of records that were read before anybody asked for them.
    package var bytes: Int { readBytes.load(ordering: .relaxed) }

    func noteRead(bytes: Int) {
        readBytes.add(bytes, ordering: .relaxed)
        options.didRead(bytes)
    }

    func withFeeds<Value: Sendable>(_ body: (inout FollowedFeeds) -> Value) -> Value {
        feeds.withLock { body(&$0) }
    }
}
