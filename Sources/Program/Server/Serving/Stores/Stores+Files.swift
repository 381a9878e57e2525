import AssetStorage
import CloudModel
import Storage

// What is there.
extension Stores {
    /// Goes through the known stores, open or not.
    func forEachKnown(_ body: (_ key: Key, _ isMissing: Bool) throws -> Void) throws {
        try ListPage.forEachPage(engine.stores) { page in
            let keys = page.map(\.key)
            let findings = try engine.findings(of: keys)
            for key in keys { try body(key, findings[key] == .missing) }
        }
    }

    /// Goes through the stores of a backup, and then the catalog.
    ///
    /// A store that is made meanwhile is in the catalog's copy, so it must be in the backup, too.
    ///
    /// - Parameters:
    ///   - copy: gives what could not be copied.
    ///   - catalog: copies the catalog, if all stores that it knows at the moment of its copy have been copied;
    ///     whether it has.
    /// - Returns: what could not be copied, and which stores are missing.
    func forEachToCopy(
        _ copy: (Key) throws -> [String], catalog: (_ isWhole: () throws -> Bool) throws -> Bool
    ) throws -> [String] {
        var problems: [String] = []
        var copied: Set<Key> = []
        var isWhole = false
        while !isWhole {
            try forEachKnown { key, isMissing in
                guard copied.insert(key).inserted else { return }
                problems +=
                    try isMissing
                    ? ["\(key.container.name) \(key.environment.rawValue): the store is missing"]
                    : copy(key)
            }
            isWhole = try catalog {
                var isKnown = true
                try ListPage.forEach(engine.stores) { isKnown = isKnown && copied.contains($0.key) }
                return isKnown
            }
        }
        return problems
    }

    /// Finishes resets and deletions that a crash cut short.
    func recover() throws {
        try engine.recover { try keeper.removeAssets(of: $0, while: $1) }
    }

    /// Takes up what has failed of deletions since the start; only where processes share the data.
    ///
    /// - Throws: the last failure, once everything was tried.
    func finishDeletions(while goesOn: () -> Bool) throws {
        var failure: (any Error)?
        try engine.recover { key, hasTurn in
            do { try keeper.removeAssets(of: key) { goesOn() && hasTurn() } } catch {
                failure = error
                throw error
            }
        }
        if let failure, goesOn() { throw failure }
    }

    private static let unreachable = "database unreachable"

    /// What is wrong with the disk or the database, in a word; nil when nothing is.
    ///
    /// Does not block. A store whose disk is full, or whose database does not answer, then looks whether that is still
    /// so. While it says so, perhaps nobody sends it a write that would find this out.
    var diskTrouble: String? {
        guard engine.processes.isLeased else { return Self.unreachable }
        var trouble: String?
        for store in open {
            switch store.condition {
            case .well: continue
            case .failed: return "disk failed"
            case .full: trouble = "disk full"
            case .unreachable: trouble = Self.unreachable
            }
            store.write(cost: 1, frees: false, { _ in }, completion: { _ in })
        }
        return trouble
    }
}

// Upkeep.
extension Stores {
    /// Runs a body for every store that is open, which does not keep it open for longer.
    func forEachOpen(_ body: (Key, LeasedStore) -> Void) {
        for (key, _) in cache.open {
            guard let lease = cache.lease(key, isIncidental: true) else { continue }
            body(key, LeasedStore(lease))
        }
    }

    /// Closes the stores that nobody has needed for a while, and what is above their number.
    func closeIdle() { cache.closeIdle() }

    /// Opens a store for work of its own: it is the first to be closed again.
    func openDue(_ key: Key) throws -> LeasedStore {
        LeasedStore(try cache.wait(for: key, isIncidental: true))
    }

    /// Reads from the catalog when closed stores are due, those at once that the last process left open.
    func loadSchedule() throws {
        try schedule.load()
    }
}
