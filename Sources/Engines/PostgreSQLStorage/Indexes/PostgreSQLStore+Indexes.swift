#if PostgreSQL
    import CloudModel
    import IndexedQueries
    import Storage

    extension PostgreSQLStore {
        package func prepare(_ query: StoreQuery) throws -> Int? {
            let (needs, type) = (query.plan.needs, query.type)
            let (indexes, last) = try state()
            let isThere = needs.allSatisfy { need in
                indexes.ofType(type).contains { $0.need == need && $0.state != .leaving }
            }
            guard isThere else {
                try writeAndWait(frees: false) { transaction in
                    try (transaction as? PostgreSQLTransaction)?.makeIndexes(needs, ofType: type)
                }
                return 0
            }
            let unfinished = indexes.ofType(type).filter {
                needs.contains($0.need) && $0.state == .filling
            }
            guard let through = unfinished.map(\.filledThrough.value).min() else { return nil }
            return last <= 0 ? 0 : Int(min(through, last) * 100 / last)
        }

        /// The indexes and the last record.
        private func state() throws -> (IndexCatalog, Int64) {
            try read { snapshot in
                guard let snapshot = snapshot as? PostgreSQLSnapshot else {
                    return (IndexCatalog(), 0)
                }
                let progress = try snapshot.progress()
                let known = try snapshot.storedIndexes(progress.revision(\.indexRevision))
                return (known.catalog, progress.next.record - 1)
            }
        }
    }
#endif
