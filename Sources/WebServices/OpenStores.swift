import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import Dispatch
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

        /// The same store, as one request on a worker sees it.
        func stopping(_ stop: StopSignal) -> OpenStore {
            OpenStore(
                storage: RequestStorage(storage, stop: stop), tokenKey: tokenKey,
                depot: depot,
                assetTokens: assetTokens)
        }
    }

    private struct Key: Hashable {
        let container: ContainerID
        let environment: Environment
    }

    private let find: @Sendable (ContainerID, Environment) throws -> any Storage
    private let findAssets: @Sendable (ContainerID, Environment) throws -> AssetDepot
    private let assets: AssetOptions
    private let state = Mutex(State())

    private typealias Waiter = @Sendable (Result<OpenStore, any Error>) -> Void

    private struct State {
        var known: [Key: OpenStore] = [:]
        /// Who waits for a store that is being opened.
        var opening: [Key: [Waiter]] = [:]
        /// Counts what was forgotten, so that nothing is kept that was found before.
        var forgettings = 0
    }

    /// Requests that wait for one store to be opened; a further one is told to try again.
    private static let waitersMax = 1_024

    init(
        find: @escaping @Sendable (ContainerID, Environment) throws -> any Storage,
        findAssets: @escaping @Sendable (ContainerID, Environment) throws -> AssetDepot,
        assets: AssetOptions
    ) {
        self.find = find
        self.findAssets = findAssets
        self.assets = assets
    }

    /// A store that is open; nil for one that is to be opened first.
    func known(_ container: ContainerID, _ environment: Environment) -> OpenStore? {
        state.withLock { $0.known[Key(container: container, environment: environment)] }
    }

    /// Has a store opened, on a thread of its own: to migrate and recover one may take minutes, and nobody
    /// waits for it who does not need it.
    ///
    /// - Parameter completion: called on that thread with the store, or with what `find` throws; at once
    ///   when too many wait.
    func open(
        _ container: ContainerID, _ environment: Environment,
        completion: @escaping @Sendable (Result<OpenStore, any Error>) -> Void
    ) {
        let key = Key(container: container, environment: environment)
        let (isFirst, isFull) = state.withLock { state in
            let count = state.opening[key]?.count
            if let count, count >= Self.waitersMax { return (false, true) }
            state.opening[key, default: []].append(completion)
            return (count == nil, false)
        }
        if isFull {
            return completion(
                .failure(Fault.tryAgainLater("the container's data is being opened")))
        }
        guard isFirst else { return }
        DispatchQueue(label: "web.open").async { self.find(key) }
    }

    private func find(_ key: Key) {
        var outcome: Result<OpenStore, any Error>
        var isCurrent = false
        repeat {
            let before = state.withLock { $0.forgettings }
            outcome = Result { try make(key) }
            isCurrent = state.withLock { state in
                // One that was forgotten meanwhile is closed, or about to be.
                guard state.forgettings == before else { return false }
                if case .success(let store) = outcome { state.known[key] = store }
                return true
            }
        } while !isCurrent
        let waiters = state.withLock { $0.opening.removeValue(forKey: key) ?? [] }
        for waiter in waiters { waiter(outcome) }
    }

    private func make(_ key: Key) throws -> OpenStore {
        let storage = try find(key.container, key.environment)
        let tokenKey = try storage.identity.tokenKey
        return OpenStore(
            storage: storage, tokenKey: HMACSHA256(key: tokenKey),
            depot: try findAssets(key.container, key.environment),
            assetTokens: AssetTokens(
                key: tokenKey,
                base: AssetAddress.base(key.container, key.environment, below: assets.baseURL),
                lives: assets.lives))
    }

    /// Forgets a container's stores, whose files are about to go.
    func forget(_ container: ContainerID) {
        state.withLock { state in
            state.forgettings += 1
            for environment in Environment.allCases {
                state.known[Key(container: container, environment: environment)] = nil
            }
        }
    }
}
