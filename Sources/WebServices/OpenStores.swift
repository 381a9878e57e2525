import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import Storage
import Synchronization

/// The stores that requests have reached, each with its prepared token key.
final class OpenStores: Sendable {
    /// One container environment's data and what signs its tokens.
    struct OpenStore: Sendable {
        let storage: any Storage
        let tokenKey: HMACSHA256
        let depot: AssetDepot
        let assetTokens: AssetTokens
    }

    private struct Key: Hashable {
        let container: ContainerID
        let environment: Environment
    }

    private let find: @Sendable (ContainerID, Environment) throws -> any Storage
    private let findAssets: @Sendable (ContainerID, Environment) throws -> AssetDepot
    private let assets: AssetOptions
    private let known = Mutex<[Key: OpenStore]>([:])

    init(
        find: @escaping @Sendable (ContainerID, Environment) throws -> any Storage,
        findAssets: @escaping @Sendable (ContainerID, Environment) throws -> AssetDepot,
        assets: AssetOptions
    ) {
        self.find = find
        self.findAssets = findAssets
        self.assets = assets
    }

    func store(_ container: ContainerID, _ environment: Environment) throws -> OpenStore {
        let key = Key(container: container, environment: environment)
        return try known.withLock { known in
            if let store = known[key] { return store }
            // Found under the lock, or a store could be kept that was forgotten meanwhile.
            let storage = try find(container, environment)
            let store = OpenStore(
                storage: storage, tokenKey: HMACSHA256(key: storage.identity.tokenKey),
                depot: try findAssets(container, environment),
                assetTokens: AssetTokens(
                    key: storage.identity.tokenKey,
                    base: AssetAddress.base(container, environment, below: assets.baseURL),
                    lives: assets.lives))
            known[key] = store
            return store
        }
    }

    /// Forgets a container's stores, whose files are about to go.
    func forget(_ container: ContainerID) {
        known.withLock { known in
            for environment in Environment.allCases {
                known[Key(container: container, environment: environment)] = nil
            }
        }
    }
}
