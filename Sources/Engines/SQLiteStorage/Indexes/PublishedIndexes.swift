import IndexedQueries
import Synchronization

/// The indexes as of the last commit, for any thread.
final class PublishedIndexes: Sendable {
    private let stored: Mutex<IndexCatalog>

    init(_ indexes: IndexCatalog) { stored = Mutex(indexes) }

    var value: IndexCatalog {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
