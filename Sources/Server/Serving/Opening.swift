import Network
import SQLiteStorage
import Storage
import Synchronization

/// One store that somebody opens, while others may wait for what comes of it.
final class Opening: Sendable {
    private let outcome: Mutex<Result<SQLiteStore, any Error>>
    private let isOver: Latch

    /// One that goes on until `end`, which whoever made it calls whatever happens.
    init() {
        outcome = Mutex(.failure(CatalogRefusal.containerUnknown))
        isOver = Latch(count: 1)
    }

    /// One that is over.
    init(of store: SQLiteStore) {
        outcome = Mutex(.success(store))
        isOver = Latch(count: 0)
    }

    func end(_ result: Result<SQLiteStore, any Error>) {
        outcome.withLock { $0 = result }
        isOver.countDown()
    }

    /// Waits until it is over; blocks.
    ///
    /// - Throws: what the opening threw.
    func wait() throws -> SQLiteStore {
        isOver.wait()
        return try outcome.withLock { $0 }.get()
    }
}
