import Synchronization

/// Folders whose names are on the disk, so that what is put below them is as durable as it is said to be.
///
/// One that is there already counts no more than a new one: whoever made it may be about to bring its name to
/// the disk, or have been ended before that. So each is brought there once in the life of a process.
final class DurableFolders: Sendable {
    private let known = Mutex<Set<String>>([])

    /// Makes a folder where there is none; its name is on the disk when this returns.
    ///
    /// - Parameter path: the folder above it exists.
    func make(_ path: String) throws(AssetFailure) {
        let isNew = try AssetFiles.makeFolder(path)
        if !isNew, known.withLock({ $0.contains(path) }) { return }
        try AssetFiles.synchronizeFolder("\(path)/..")
        known.withLock { _ = $0.insert(path) }
    }
}
