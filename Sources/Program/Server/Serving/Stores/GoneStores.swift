import Dispatch
import Storage
import Synchronization

/// Closes open stores that another process has removed or reset, so that the next request opens what is there by then.
final class GoneStores: Sendable {
    private let stores = Mutex<Weak>(Weak())
    private let queue = DispatchQueue(label: "stores.gone")

    private struct Weak: Sendable {
        weak var stores: Stores?
    }

    func attach(_ stores: Stores) { self.stores.withLock { $0.stores = stores } }

    /// Does not wait.
    func tell(_ key: StoreKey) {
        queue.async { [weak self] in self?.stores.withLock { $0.stores }?.closeGone(key) }
    }
}
