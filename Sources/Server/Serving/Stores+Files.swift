import AssetStorage
import CloudModel
import SQLiteStorage
import Storage

// What is there on the disk.
extension Stores {
    /// The stores that the catalog knows and that have a file, open or not.
    package func existing() throws -> [Key] {
        try search.known().filter { try FileSystem.kind(of: files.path(of: $0)) != nil }
    }

    /// The stores that the catalog knows and whose file is not there, or is another's.
    package func missing() throws -> [Key] {
        try search.known().filter { try search.isMissing($0) }
    }

    /// Takes the files of a folder for known that an earlier version has left.
    func settle() throws {
        try catalog.settleStores { container, environment in
            try FileSystem.kind(of: files.path(of: Key(container, environment))) != nil
        }
    }

    /// Folders below `containers` that belong to no store that the catalog knows.
    func strays() throws -> [String] { try files.strays(beside: search.known()) }

    /// Removes what deletions have left that a crash cut short.
    func finishRemovals() throws {
        for name in try files.names() where name.hasSuffix(StoreFiles.asideSuffix) {
            try finishRemoval(of: String(name.dropLast(StoreFiles.asideSuffix.count)))
        }
    }

    /// Removes what a container that was deleted has left.
    private func finishRemoval(of name: String) throws {
        // One made again under the name has its own files there, and finds the old ones by and by.
        if let container = ContainerID(name),
            try FileSystem.kind(of: files.place(of: container)) == nil
        {
            do throws(AssetFailure) {
                for environment in Environment.allCases {
                    try keeper.storage(of: Key(container, environment)).removeEverything()
                }
            } catch {
                // NB: a store that does not answer keeps nobody from starting; the next start tries.
                return
            }
        }
        try files.finishRemoval(of: name)
    }

    /// What is wrong with the disk, in a word; nil when nothing is.
    ///
    /// Does not block. Being asked has a store whose disk is full try whether there is room again: while it
    /// says so, nobody may be sending it the write that would find out.
    var diskTrouble: String? {
        var trouble: String?
        for store in open {
            let measurements = store.measurements
            if measurements.isFailed { return "disk failed" }
            if measurements.isDiskFull {
                trouble = "disk full"
                store.write(cost: 1, frees: false, { _ in }, completion: { _ in })
            }
        }
        return trouble ?? search.trouble
    }

    /// Bytes of the write-ahead logs that are open.
    var logBytes: Int64 {
        cache.open.reduce(0) { $0 + FileSystem.size(of: files.path(of: $1.key) + "-wal") }
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
        try schedule.load { FileSystem.size(of: files.path(of: $0) + "-wal") > 0 }
    }
}
