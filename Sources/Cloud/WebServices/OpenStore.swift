import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import Storage

/// The data of one container environment, and the keys for its tokens, as requests see them.
package struct OpenStore: Sendable {
    package let storage: any Store
    private let made: Made

    /// What is made once for each opening, and the same however the store is reached.
    private final class Made: Sendable {
        let tokenKey: HMACSHA256
        let assetStore: AssetStore
        let assetTokens: AssetTokens
        let shareAddresses: ShareAddresses
        let total = StoredTotal()

        init(
            tokenKey: HMACSHA256, assetStore: AssetStore, assetTokens: AssetTokens,
            shareAddresses: ShareAddresses
        ) {
            self.tokenKey = tokenKey
            self.assetStore = assetStore
            self.assetTokens = assetTokens
            self.shareAddresses = shareAddresses
        }
    }

    var tokenKey: HMACSHA256 { made.tokenKey }
    var assetStore: AssetStore { made.assetStore }
    var assetTokens: AssetTokens { made.assetTokens }
    var shareAddresses: ShareAddresses { made.shareAddresses }
    /// What it stores, as it was counted last.
    var total: StoredTotal { made.total }

    /// Prepares what depends on the store's key: once for each opening.
    ///
    /// - Throws: what the store reports.
    package init(
        _ storage: any Store, of container: ContainerID, in environment: Environment,
        assetStore: AssetStore, assets: AssetOptions
    ) throws {
        self.storage = storage
        let key = try storage.identity.tokenKey
        made = Made(
            tokenKey: HMACSHA256(key: key), assetStore: assetStore,
            assetTokens: AssetTokens(
                key: key,
                base: AssetAddress.base(container, environment, below: assets.baseURL),
                lives: assets.lives),
            shareAddresses: ShareAddresses(key: key, base: ""))
    }

    private init(_ storage: any Store, _ made: Made) {
        self.storage = storage
        self.made = made
    }

    /// The same store, reached in another way.
    package func reached(through storage: any Store) -> OpenStore {
        OpenStore(storage, made)
    }
}

/// The stores of a server, opened when they are first asked for and closed when nobody needs them.
///
/// A store stays open as long as anybody keeps the `storage` that was handed out.
package protocol StoreAccess: Sendable {
    /// A store that is open; nil when it must be opened first.
    ///
    /// Does not block.
    func known(_ container: ContainerID, _ environment: Environment) -> OpenStore?

    /// Hands over a store once it is open, which may take minutes where it is migrated or recovered.
    ///
    /// - Parameter completion: called on any thread, or at once. It gets the store or an error:
    ///   `CatalogRefusal.containerUnknown`, a `StorageFailure`, a `Fault` when too many wait, or what the
    ///   engine reports.
    func open(
        _ container: ContainerID, _ environment: Environment,
        completion: @escaping @Sendable (Result<OpenStore, any Error>) -> Void)
}
