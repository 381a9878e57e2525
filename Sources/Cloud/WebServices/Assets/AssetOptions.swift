import CloudDatabase
import Synchronization

/// The limits for assets.
package struct AssetOptions: Sendable {
    /// The size of one asset, in bytes.
    package var bytesMax = 52_428_800
    /// How many resumable uploads there may be at a time: each holds a file open, of the 1,024 that a process may
    /// have open where nobody raised it.
    package var resumableUploadsMax = 256
    /// How long a resumable upload stays when nobody goes on with it, in seconds: each holds a file open.
    package var resumeSeconds = 3_600
    /// How many threads write, hash, and wait for the place of the bytes.
    package var workerCount = 8
    package var lives = AssetTokens.Lives()
    /// Where clients reach uploads and downloads, without a slash at the end.
    package var baseURL: String

    package init(baseURL: String) { self.baseURL = baseURL }
}

/// Counts of uploads and downloads since the start.
package struct AssetCounts: Sendable {
    package var uploadsActive = 0
    package var uploadsFinished = 0
    /// Uploads that the client broke off.
    package var uploadsAborted = 0
    package var bytesReceived = 0
    package var downloads = 0
    /// Downloads of a file whose bytes are not those that were stored.
    package var damaged = 0
}

/// Counts uploads and downloads, from any thread.
final class AssetCounters: Sendable {
    private let state = Mutex(AssetCounts())

    var counts: AssetCounts { state.withLock { $0 } }

    func change(_ change: (inout AssetCounts) -> Void) { state.withLock { change(&$0) } }
}
