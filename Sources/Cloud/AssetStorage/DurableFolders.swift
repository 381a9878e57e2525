import Platform
import Synchronization

/// Folders whose names are on the disk.
///
/// So what is put below them is as durable as the caller is told.
///
/// A folder that is there already is treated like a new one. The process that made it may not have
/// brought its name to the disk yet, or may have ended before that. So each process brings every
/// folder's name to the disk once.
final class DurableFolders: Sendable {
    private let known = Mutex<Set<String>>([])

    /// Makes a folder where there is none, and those above it; their names are on the disk when this returns.
    func make(_ path: String) throws(AssetFailure) {
        let above = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        if !above.isEmpty, access(above, F_OK) != 0 { try make(above) }
        let isNew = try AssetFiles.makeFolder(path)
        if !isNew, known.withLock({ $0.contains(path) }) { return }
        try AssetFiles.synchronizeFolder("\(path)/..")
        known.withLock { _ = $0.insert(path) }
    }
}
