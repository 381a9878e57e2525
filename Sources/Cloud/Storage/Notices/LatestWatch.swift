import Synchronization

/// The watch of one who waits again and again; each ends the one before.
package final class LatestWatch: Sendable {
    private let watch = Mutex<CommitWatch?>(nil)

    package init() {}

    /// Calls a closure once one of some places has moved, as `CommitWatch` does.
    package func begin(_ next: CommitWatch, wake: @escaping @Sendable () -> Void) {
        replace(next)
        next.whenMoved { _ in wake() }
    }

    package func end() { replace(nil) }

    private func replace(_ next: CommitWatch?) {
        watch.withLock { watch in
            watch?.end()
            watch = next
        }
    }
}
