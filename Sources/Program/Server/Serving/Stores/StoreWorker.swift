import Synchronization

/// Does the work that an open store keeps.
protocol StoreWorker: AnyObject, Sendable {
    /// Begins with what waits, and goes on whenever a commit leaves something to do.
    func begin()

    /// Whether a step is running, or is about to.
    var isBusy: Bool { get }

    /// Begins no further step, and waits for a running step if it runs outside of transactions.
    func stop()
}

/// Who does the work of an open store: one at a time.
final class AttachedWorker: Sendable {
    private let worker = Mutex<(any StoreWorker)?>(nil)

    private var current: (any StoreWorker)? { worker.withLock { $0 } }

    var isBusy: Bool { current?.isBusy ?? false }

    /// Has a worker begin, in place of the one before, which is stopped.
    func attach(_ next: any StoreWorker) {
        let previous = worker.withLock { stored in
            defer { stored = next }
            return stored
        }
        previous?.stop()
        next.begin()
    }

    func stop() { current?.stop() }
}
