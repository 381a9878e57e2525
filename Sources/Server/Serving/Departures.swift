import Accounts
import CloudModel
import Dispatch
import Storage
import Synchronization

/// Removes what the stores hold of accounts that the catalog has deleted.
///
/// Each is an idempotent job: what a crash left undone is done at the next start.
struct Departures {
    let users: Users
    let stores: Stores

    /// Does all that are not finished.
    ///
    /// - Throws: what the catalog and the stores report; what was not reached stays to be done.
    func finish() throws {
        for departure in try users.unfinishedDepartures() { try finish(departure) }
    }

    private func finish(_ departure: Departure) throws {
        for key in try stores.existing() where key.container == departure.container {
            let store = try stores.store(of: key.container, in: key.environment)
            try store.writeAndWait { transaction in
                guard let owner = try transaction.owner(named: departure.userRecordName) else {
                    return
                }
                for zone in try transaction.zones(of: owner.number) {
                    try transaction.deleteZone(zone)
                }
            }
        }
        try users.finish(departure)
    }
}

extension Storage {
    /// Runs a closure that only removes, as `write` does, and waits until it is on disk.
    ///
    /// Never called on an event loop or by the engine's own threads.
    func writeAndWait<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value
    ) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome<Value>()
        write(cost: 1, frees: true, body) { result in
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
