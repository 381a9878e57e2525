import Dispatch
import Synchronization

/// What somebody waits for who has asked another thread.
///
/// Nobody waits on an event loop, or on one of the engine's own threads.
package final class Pending<Value: Sendable>: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex<Result<Value, any Error>>(.failure(StorageFailure.indeterminate))

    package init() {}

    package func end(_ result: Result<Value, any Error>) {
        self.result.withLock { $0 = result }
        done.signal()
    }

    package func wait() throws -> Value {
        done.wait()
        return try result.withLock { $0 }.get()
    }

    /// - Returns: nil where nothing has come in time.
    package func wait(withinSeconds seconds: Int) throws -> Value? {
        guard done.wait(timeout: .now() + .seconds(seconds)) == .success else { return nil }
        return try result.withLock { $0 }.get()
    }
}
