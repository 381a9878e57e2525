import CloudModel
import IndexedQueries
import Storage

// Queries, each page by a plan of its own.
extension SQLiteSnapshot {
    /// A page of a query; the snapshot goes on behind it.
    func find(
        _ query: StoreQuery, _ visit: (StoredVersion) throws -> Void
    ) throws -> QueryCursor? {
        try QueryAnswer(self, storedIndexes, checkStop: checkStop).page(of: query, visit)
    }
}
