#if PostgreSQL
    import CloudModel
    import Dispatch
    import IndexedQueries
    import PostgreSQL
    import Storage

    // Queries: the plan and the pages are every engine's, the indexes this one's.
    extension PostgreSQLSnapshot {
        /// The indexes as the snapshot has them.
        func storedIndexes(_ revision: Revision) throws -> StoreFacts.KnownIndexes {
            try facts.indexes(revision) {
                let rows = try askByKey([IndexRows.query(store)])
                return try IndexRows.read(revision, rows[0])
            }
        }

        /// A page of a query; the snapshot goes on behind it.
        func find(
            _ query: StoreQuery, _ indexes: IndexCatalog, _ visit: (StoredVersion) throws -> Void
        ) throws -> QueryCursor? {
            let reader = PostgreSQLIndexReader(self, indexes)
            return try QueryAnswer(self, reader, checkStop: checkStop).page(of: query, visit)
        }
    }
#endif
