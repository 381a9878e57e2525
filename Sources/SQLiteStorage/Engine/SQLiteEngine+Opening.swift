import CloudModel
import SQLite
import SQLiteStorage
import Storage

/// Opens the file that the catalog knows of a container environment, or makes the first one.
struct StoreOpener: Sendable {
    let files: StoreFiles
    let catalog: SQLiteCatalog
    let options: SQLiteStore.Options
    let former: FormerStores
    let reports: StoreReports
    let onIndeterminate: @Sendable (String) -> Void

    /// Opens a store; blocks while it is made, migrated or recovered.
    ///
    /// - Parameters:
    ///   - notices: of the store's former openings.
    ///   - life: which that before this one has left.
    /// - Throws: `CatalogRefusal.containerUnknown`; `StorageFailure.missing` where the catalog knows a file
    ///   that is not there or is another's, since an empty one in its place would be taken for all there is;
    ///   `StorageFailure.full`; what the engine reports.
    func open(
        _ key: Stores.Key, notices: CommitNotices, life: StoreLife?
    ) throws -> SQLiteStore {
        guard try catalog.container(key.container) != nil else {
            throw CatalogRefusal.containerUnknown
        }
        try files.finishReplacing(key)
        let known = try catalog.store(of: key.container, in: key.environment)
        if known != nil {
            guard try files.hasFile(key) else { throw StorageFailure.missing }
        } else {
            try putAsideUnknown(key)
            try FileSystem.makeFolder(files.place(of: key))
        }
        var options = options
        options.name = known?.name ?? options.random(16)
        options.notices = notices
        options.life = life
        options.report = { [reports] in reports.tell(key, $0) }
        if let known { options.admit = { try admit($0, to: key, as: known.name) } }
        let store = try open(key, options)
        if known?.name == nil, let name = store.name {
            // The file first, then the row that says that it is there. The folders above may be of a start
            // that was ended before it had brought their names to the disk.
            let place = files.place(of: key)
            for number in 0..<3 {
                try FileModes.synchronize(place + String(repeating: "/..", count: number))
            }
            try FileModes.synchronize(files.folder)
            try catalog.note(name, of: key.container, in: key.environment)
        }
        return store
    }

    /// Looks at a file before anything is done to it, and keeps a copy of one that is about to be migrated.
    private func admit(_ facts: StoreFacts, to key: Stores.Key, as name: [UInt8]?) throws {
        if let name, facts.name != name { throw StorageFailure.missing }
        if let report = try former.keep(files.path(of: key), of: facts.formerVersion) {
            reports.tell(key, report)
        }
    }

    private func open(_ key: Stores.Key, _ options: SQLiteStore.Options) throws -> SQLiteStore {
        do {
            return try SQLiteStore(
                path: files.path(of: key), options: options, onIndeterminate: onIndeterminate)
        } catch let error as SQLiteError where error.kind == .full {
            // It finds no room; its maker may try again.
            throw StorageFailure.full
        }
    }

    /// Puts files out of the way that the catalog does not know: they are of another server, or of a
    /// container that was deleted, and nobody may be shown what is in them.
    private func putAsideUnknown(_ key: Stores.Key) throws {
        let path = files.path(of: key)
        guard try FileSystem.kind(of: path) != nil else { return }
        // A start that was cut off before the catalog knew of it leaves one that holds nothing.
        if try SQLiteStore.isUnused(at: path) {
            for suffix in ["", "-wal", "-shm"] { FileSystem.removeFile(path + suffix) }
            return
        }
        reports.tell(key, .stray(path: try files.putAside(key)))
    }
}
