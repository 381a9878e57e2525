import CloudModel
import Platform

/// Files of a folder of assets that no row stood for, kept for some time before they go.
///
/// A store that was lost, or put back from an old copy, does not know its files: without this they would be
/// gone before anybody noticed. The storage still serves what is here.
package final class AssetTrash: Sendable {
    let path: String
    private let folders: DurableFolders
    /// Where a file belongs.
    private let location: @Sendable (AssetDigest, _ isSealed: Bool) -> String
    private let isShort: @Sendable () throws(AssetFailure) -> Bool

    /// - Parameters:
    ///   - path: the folder, made when the first file comes.
    ///   - location: where a file belongs; on the same disk.
    ///   - isShort: whether the disk has less room than is to be left on it.
    init(
        path: String, _ folders: DurableFolders,
        location: @escaping @Sendable (AssetDigest, _ isSealed: Bool) -> String,
        isShort: @escaping @Sendable () throws(AssetFailure) -> Bool
    ) {
        self.path = path
        self.folders = folders
        self.location = location
        self.isShort = isShort
    }

    /// Whether the disk needs the room that the files here take.
    package var isRoomWanted: Bool {
        get throws(AssetFailure) { try isShort() }
    }

    /// Moves a file here.
    ///
    /// - Parameter moment: from which on its time here counts.
    package func put(_ digest: AssetDigest, at moment: Milliseconds) throws(AssetFailure) {
        try folders.make(path)
        for isSealed in [false, true] {
            let kept = name(of: digest, isSealed: isSealed)
            guard rename(location(digest, isSealed), kept) == 0 else {
                if errno == ENOENT { continue }
                throw AssetFiles.failure("rename")
            }
            let seconds = time_t(moment / 1_000)
            let times = [
                timeval(tv_sec: seconds, tv_usec: 0), timeval(tv_sec: seconds, tv_usec: 0),
            ]
            guard utimes(kept, times) == 0 else { throw AssetFiles.failure("utimes") }
        }
    }

    /// Moves a file back to where it belongs.
    package func takeBack(_ digest: AssetDigest) throws(AssetFailure) {
        for isSealed in [false, true] {
            let wanted = location(digest, isSealed)
            if rename(name(of: digest, isSealed: isSealed), wanted) == 0 {
                if let slash = wanted.lastIndex(of: "/") {
                    try AssetFiles.synchronizeFolder(String(wanted[..<slash]))
                }
            } else if errno != ENOENT {
                throw AssetFiles.failure("rename")
            }
        }
    }

    package func remove(_ digest: AssetDigest) throws(AssetFailure) {
        for isSealed in [false, true] {
            try AssetFiles.remove(name(of: digest, isSealed: isSealed))
        }
    }

    /// Everything here, by when it came, the oldest first.
    package func list() throws(AssetFailure) -> [AssetListing] {
        var found: [AssetListing] = []
        for name in try AssetFiles.names(in: path) {
            let stem =
                name.hasSuffix(FolderAssets.sealedSuffix)
                ? name.dropLast(FolderAssets.sealedSuffix.count) : name[...]
            guard let digest = AssetDigest(hexadecimal: stem), found.last?.digest != digest,
                let came = FolderAssets.modified("\(path)/\(name)")
            else { continue }
            found.append(AssetListing(digest: digest, placed: came))
        }
        return found.sorted { $0.placed < $1.placed }
    }

    func name(of digest: AssetDigest, isSealed: Bool) -> String {
        "\(path)/\(digest.hexadecimal)\(isSealed ? FolderAssets.sealedSuffix : "")"
    }
}
