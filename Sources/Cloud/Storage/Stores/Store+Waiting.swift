import Dispatch
import Synchronization

extension Store {
    /// Runs a closure as `write` does, and waits until it is acknowledged.
    ///
    /// Never called on an event loop or by the engine's own threads.
    package func writeAndWait<Value: Sendable>(
        cost: Int = 1, frees: Bool = true, caller: StoreCaller = .server,
        author: ChangeAuthor? = nil,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value
    ) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome<Value>()
        let load = WriteLoad(cost: cost, frees: frees, caller: caller, author: author)
        write(load, body) { result in
            outcome.value.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        return try outcome.value.withLock { $0 }.get()
    }
}

/// What a write came to, on its way between two threads.
private final class Outcome<Value: Sendable>: Sendable {
    let value = Mutex<Result<Value, any Error>>(.failure(StorageFailure.indeterminate))
}
