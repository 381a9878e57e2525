import AssetStorage
import CloudModel
import Storage

/// Copies the files that a store's rows speak of, and reads each through.
final class AssetCopying {
    /// A line for each file that is not there whole.
    private(set) var problems: [String] = []
    private let location: String
    private let source: any AssetBlobStore
    private let target: any AssetBlobStore

    init(_ key: StoreKey, from source: any AssetBlobStore, to target: any AssetBlobStore) {
        location = "\(key.container.name) \(key.environment.rawValue)"
        self.source = source
        self.target = target
    }

    /// - Throws: `AssetFailure`, but for a file that is damaged.
    func copy(_ row: ReferencedAsset) throws {
        let digest = row.content.digest
        do {
            // A bucket has what a copy that was made without files speaks of.
            let isThere = try source.copy(digest, to: target) || target.open(digest) != nil
            if !isThere, row.isNeeded {
                problems.append("\(location): missing asset: \(digest.hexadecimal)")
            }
        } catch AssetFailure.damaged(let digest) {
            problems.append("\(location): damaged asset: \(digest.hexadecimal)")
        }
    }
}
