import CloudModel
import Storage

/// A store that stays open as long as anybody keeps this.
package final class LeasedStore: Store {
    private let lease: LeaseCache<Stores.Key, Stores.Opened>.Lease
    private let store: any EngineStore

    init(_ lease: LeaseCache<Stores.Key, Stores.Opened>.Lease) {
        self.lease = lease
        store = lease.value.store
    }

    package var readsAtOnce: Bool { store.readsAtOnce }
    package var notices: CommitNotices { store.notices }

    package func read<Value>(
        _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        try withExtendedLifetime(lease) { try store.read(load, body) }
    }

    package func readTogether<Value: Sendable>(
        _ needs: @autoclosure () -> StoreNeeds, by caller: StoreCaller,
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let lease = lease
        store.readTogether(needs(), by: caller, body) { result in
            // Until it is answered.
            withExtendedLifetime(lease) { completion(result) }
        }
    }

    package func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let lease = lease
        store.write(load, body) { result in
            // Until it is answered.
            withExtendedLifetime(lease) { completion(result) }
        }
    }

    /// Has a worker do the store's work until it is closed, in place of the one before.
    func attach(_ worker: any StoreWorker) { lease.value.worker.attach(worker) }

    package func prepare(_ query: StoreQuery) throws -> Int? {
        try withExtendedLifetime(lease) { try store.prepare(query) }
    }

    package func hold(_ duty: StoreDuty) throws -> StoreLease? {
        try withExtendedLifetime(lease) { try store.hold(duty) }
    }

    package func maintain(while goesOn: () -> Bool) throws -> Bool {
        try withExtendedLifetime(lease) { try store.maintain(while: goesOn) }
    }
}

extension LeasedStore: SpaceKeeping {
    package func size(owners ownersMax: Int, counting: StoreCounting) throws -> StoreSize {
        try withExtendedLifetime(lease) {
            try store.size(owners: ownersMax, counting: counting)
        }
    }

    package func giveBackSpace(while goesOn: (StoreSpace) -> Bool) throws {
        try withExtendedLifetime(lease) { try store.giveBackSpace(while: goesOn) }
    }
}
