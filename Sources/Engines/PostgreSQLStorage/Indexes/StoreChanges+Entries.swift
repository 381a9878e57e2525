#if PostgreSQL
    import PostgreSQL

    extension StoreChanges {
        /// The rows of indexes that come and go: one statement for each table and way.
        func entryQueries(_ store: Int64) -> [Query] {
            guard !entries.isEmpty else { return [] }
            let gone = EntryRows(entries.filter { !$0.value }.keys)
            let come = EntryRows(entries.filter(\.value).keys)
            return gone.removing(store) + come.adding(store)
        }
    }
#endif
