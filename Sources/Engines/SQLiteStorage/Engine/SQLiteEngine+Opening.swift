import CloudModel
import Files
import SQLite
import Storage

// How the file is opened that the catalog knows of a container environment, or the first one made.
extension SQLiteEngine {
    /// - Parameter life: which the opening before this one has left.
    func open(
        _ key: StoreKey, notices: CommitNotices, life: StoreLife?
    ) throws -> SQLiteStore {
        do {
            return try opened(key, notices, life)
        } catch let error as SQLiteError where error.isOpeningWithoutRoom {
            // Its maker may try again.
            throw StorageFailure.full
        } catch let error as SQLiteError where error.kind == .tooManyFiles {
            throw StorageFailure.tooManyOpen
        } catch let error as FileSystemFailure where error.isFull {
            throw StorageFailure.full
        }
    }

    private func opened(
        _ key: StoreKey, _ notices: CommitNotices, _ life: StoreLife?
    ) throws -> SQLiteStore {
        guard try sqliteCatalog.container(key.container) != nil else {
            throw CatalogRefusal.containerUnknown
        }
        try files.finishReplacing(key)
        let known = try sqliteCatalog.store(key)
        if known != nil {
            guard try files.hasFile(key) else { throw StorageFailure.missing }
        } else {
            try putAsideUnknown(key)
            try FileSystem.makeFolder(files.location(of: key))
        }
        var storeOptions = storeOptions(of: key)
        storeOptions.name = known?.name ?? options.random(Self.nameBytes)
        let name = storeOptions.name
        storeOptions.notices = notices
        storeOptions.life = life
        if known != nil {
            storeOptions.admit = { if $0 != name { throw StorageFailure.missing } }
        }
        let store = try SQLiteStore(
            path: files.path(of: key), options: storeOptions,
            onIndeterminate: options.onIndeterminate)
        if known == nil {
            do { try note(name, of: key) } catch {
                store.close()
                throw error
            }
        }
        return store
    }

    /// Of what a store's file calls itself.
    private static let nameBytes = 16

    private func storeOptions(of key: StoreKey) -> SQLiteStore.Options {
        var made = SQLiteStore.Options(clock: options.clock, random: options.random)
        made.loopCount = settings.loopCount
        made.followerChangesMax = settings.followerChangesMax
        made.writer = settings.writer
        made.readers = settings.readers
        made.report = { [options] in options.report(key, $0) }
        made.counts = counts
        made.positionCache = positionCache
        return made
    }

    /// Has the catalog know a file: the file is on disk first, then the row that says that it is there.
    private func note(_ name: [UInt8], of key: StoreKey) throws {
        // The folders above may be of a start that was ended before it had brought their names to the disk.
        try files.synchronizeFolders(above: key)
        try FileSystem.synchronize(files.folder)
        try sqliteCatalog.note(name, of: key)
    }

    /// Puts files out of the way that the catalog does not know: they are of another server, or of a
    /// container that was deleted, and nobody may be shown what is in them.
    private func putAsideUnknown(_ key: StoreKey) throws {
        let path = files.path(of: key)
        guard try FileSystem.kind(of: path) != nil else { return }
        // A start that was cut off before the catalog knew of it leaves one that holds nothing.
        if try SQLiteStore.isUnused(at: path) {
            for suffix in ["", "-wal", "-shm"] { FileSystem.removeFile(path + suffix) }
            return
        }
        options.report(key, .movedAside(try files.putAside(key)))
    }
}
