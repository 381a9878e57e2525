import CloudDatabase
import Synchronization

/// What assets are held to.
package struct AssetOptions: Sendable {
    /// Of one asset, in bytes.
    package var bytesMax = 52_428_800
    /// Resumable uploads at a time; 0 for none.
    package var resumableUploadsMax = 256
    /// How long a resumable upload stays that nobody goes on with, in seconds.
    package var resumeSeconds = 3_600
    /// Threads that write, hash and wait for where the bytes are.
    package var workerCount = 8
    package var lives = AssetTokens.Lives()
    /// Where clients reach uploads and downloads, without a slash at the end.
    package var baseURL: String

    package init(baseURL: String) { self.baseURL = baseURL }
}

/// What uploads and downloads have come to since the start.
package struct AssetCounts: Sendable {
    package var uploadsActive = 0
    package var uploadsFinished = 0
    /// Those that the client left in the middle.
    package var uploadsAborted = 0
    package var bytesReceived = 0
    package var downloads = 0
    /// Downloads that met a file that is not what was stored.
    package var damaged = 0
}

/// Counts them, from any thread.
final class AssetCounters: Sendable {
    private let state = Mutex(AssetCounts())

    var counts: AssetCounts { state.withLock { $0 } }

    func change(_ change: (inout AssetCounts) -> Void) { state.withLock { change(&$0) } }
}
