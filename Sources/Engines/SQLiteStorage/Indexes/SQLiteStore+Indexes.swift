import CloudModel
import IndexedQueries
import Storage

extension SQLiteStore {
    package func prepare(_ query: StoreQuery) throws -> Int? {
        let (needs, type) = (query.plan.needs, query.type)
        let isThere = needs.allSatisfy { need in
            indexes.ofType(type).contains { $0.need == need && $0.state != .leaving }
        }
        if !isThere {
            try writeAndWait(frees: false) { transaction in
                guard let transaction = transaction as? SQLiteTransaction else { return }
                try transaction.makeIndexes(needs, ofType: type)
            }
        }
        guard let through = indexes.unfinished(needs, ofType: type)?.value else { return nil }
        let last = try read { snapshot in
            try (snapshot as? SQLiteSnapshot)?.storedIndexes.lastRecord().value ?? 0
        }
        return last <= 0 ? 0 : Int(min(through, last) * 100 / last)
    }
}

extension IndexCatalog {
    /// The last record that all of the needed indexes hold; nil once they are whole.
    fileprivate func unfinished(_ needs: [IndexNeed], ofType type: Int64) -> RecordNumber? {
        ofType(type).filter { needs.contains($0.need) && $0.state != .whole }
            .map(\.filledThrough).min { $0.value < $1.value }
    }
}
