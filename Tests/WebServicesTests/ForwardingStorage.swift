import CloudModel
import Storage

/// A store that hands everything to another one: a double says only what it does otherwise.
protocol ForwardingStorage: Store {
    var store: any Store { get }
}

extension ForwardingStorage {
    var readsAtOnce: Bool { store.readsAtOnce }
    var notices: CommitNotices { store.notices }

    func read<Value>(
        _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value { try store.read(load, body) }

    func readTogether<Value: Sendable>(
        _ needs: @autoclosure () -> StoreNeeds, by caller: StoreCaller,
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) { store.readTogether(needs(), by: caller, body, completion: completion) }

    func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) { store.write(load, body, completion: completion) }

    func prepare(_ query: StoreQuery) throws -> Int? {
        try store.prepare(query)
    }

    func hold(_ duty: StoreDuty) throws -> StoreLease? { try store.hold(duty) }

    func maintain(while goesOn: () -> Bool) throws -> Bool {
        try store.maintain(while: goesOn)
    }
}
