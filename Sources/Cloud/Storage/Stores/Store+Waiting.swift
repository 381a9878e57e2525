extension Store {
    /// Runs a closure as `write` does, and waits until it is acknowledged.
    ///
    /// Never called on an event loop or by the engine's own threads.
    package func writeAndWait<Value: Sendable>(
        cost: Int = 1, frees: Bool = true, caller: StoreCaller = .server,
        author: ChangeAuthor? = nil,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value
    ) throws -> Value {
        let pending = Pending<Value>()
        let load = WriteLoad(cost: cost, frees: frees, caller: caller, author: author)
        write(load, body) { pending.end($0) }
        return try pending.wait()
    }
}
