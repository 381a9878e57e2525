import CloudModel
import Synchronization

/// The assets of one container environment: where their bytes are, and who is at which of them.
package final class AssetStore: Sendable {
    package let storage: any AssetBlobStore
    package let claims = AssetClaims()
    /// How far the search for files without a row has come.
    private let searched = Mutex<AssetDigest?>(nil)

    package init(_ storage: any AssetBlobStore) { self.storage = storage }

    /// The next files in the order of their digests; after the last one it begins anew.
    ///
    /// - Returns: fewer than `limit` at the end.
    package func nextListings(_ limit: Int) throws(AssetFailure) -> [AssetListing] {
        let page = try storage.list(after: searched.withLock { $0 }, limit: limit)
        searched.withLock { $0 = page.count == limit ? page.last?.digest : nil }
        return page
    }
}
