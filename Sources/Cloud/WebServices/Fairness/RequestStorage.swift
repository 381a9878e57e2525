import CloudModel
import Storage

/// A store as one request on a worker sees it: its reads end when the request is told to.
final class RequestStorage: Store {
    private let storage: any Store
    private let stop: StopSignal

    init(_ storage: any Store, stop: StopSignal) {
        self.storage = storage
        self.stop = stop
    }

    var readsAtOnce: Bool { storage.readsAtOnce }
    var notices: CommitNotices { storage.notices }
    var writeCount: UInt64 { storage.writeCount }

    func read<Value>(
        by reader: StoreReader, until stop: StopSignal?,
        _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        try storage.read(by: reader, until: stop ?? self.stop, body)
    }

    func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        storage.write(load, body, completion: completion)
    }

    func attach(_ worker: any StoreWorker) { storage.attach(worker) }

    func prepare(_ query: StoreQuery) throws -> Int? {
        try storage.prepare(query)
    }

    var maintenance: [Maintenance] { storage.maintenance }

    func maintain(while goesOn: () -> Bool) throws -> Bool {
        try storage.maintain(while: goesOn)
    }
}
