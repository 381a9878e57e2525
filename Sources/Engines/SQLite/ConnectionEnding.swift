import Synchronization

/// Lets one thread at a time end a connection and its statements.
///
/// A connection has no mutex of SQLite's own: one thread at a time uses it. But the last holder of a statement lets
/// go of it on a thread of their own, perhaps while another thread lets go of the connection. SQLite would take both
/// out of the same list at once, and break the heap.
final class ConnectionEnding: Sendable {
    private let lock = Mutex<Void>(())

    func withLock(_ end: () -> Int32) { lock.withLock { _ in _ = end() } }
}
