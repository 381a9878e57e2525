import CloudModel
import Storage

/// A store that counts the questions of its reads and writes.
final class CountingStore: ForwardingStorage {
    let store: any Store
    let questions = Questions()

    init(_ store: any Store) { self.store = store }

    func read<Value>(
        _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        try store.read(load) {
            try body(CountingSnapshot($0, questions))
        }
    }

    func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let questions = questions
        questions.note(load.needs())
        store.write(load, { try body(CountingTransaction($0, questions)) }, completion: completion)
    }
}
