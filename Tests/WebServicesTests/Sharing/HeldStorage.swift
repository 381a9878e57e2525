import CloudModel
import SQLiteStorage
import Storage
import Synchronization

/// A store whose work on shared trees is done when the test says so.
final class HeldStorage: Storage {
    /// The cost that tells the steps of that work from other writes.
    let stepCost: Int
    private let store: SQLiteStore

    private struct State {
        var isHeld = true
        var waiting: [@Sendable (Waiting<Bool>) -> Void] = []
    }

    private let state = Mutex(State())

    init(_ store: SQLiteStore, stepCost: Int) {
        self.store = store
        self.stepCost = stepCost
    }

    var identity: StoreIdentity { store.identity }
    var lastPosition: Position { store.lastPosition }
    var schema: Schema { store.schema }

    func read<Value>(
        loop: Int?, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value { try store.read(loop: loop, body) }

    func prepareIndexes(
        _ needs: [IndexNeed], ofType type: Int64, waitMillisecondsMax: Int
    ) throws -> IndexProgress? {
        try store.prepareIndexes(needs, ofType: type, waitMillisecondsMax: waitMillisecondsMax)
    }

    func write<Value: Sendable>(
        cost: Int, frees: Bool,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let isHeld = state.withLock { state in
            guard state.isHeld, cost == stepCost else { return false }
            state.waiting.append { [store] done in
                store.write(cost: cost, frees: frees, body) { result in
                    completion(result)
                    done.arrive(true)
                }
            }
            return true
        }
        if !isHeld { store.write(cost: cost, frees: frees, body, completion: completion) }
    }

    /// Does one step that waits, to its end; those that follow from it wait again.
    ///
    /// - Returns: whether one waited.
    @discardableResult
    func doStep() throws -> Bool {
        guard
            let step = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() })
        else { return false }
        let done = Waiting<Bool>()
        step(done)
        return try done.wait()
    }

    /// Holds work back again.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Drops what waits, as a stop does.
    func forget() { state.withLock { $0.waiting = [] } }

    /// Lets all work go on.
    func release() {
        let steps = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for step in steps { step(Waiting()) }
    }
}
