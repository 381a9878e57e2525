import CloudModel
import Files
import SQLite
import Storage

// Which stores there are, and what is wrong with them.
extension SQLiteEngine {
    package func stores(_ request: ListRequest) throws -> ListPage<KnownStore> {
        try sqliteCatalog.stores(request)
    }

    package func isThere(_ key: StoreKey) throws -> Bool {
        try files.hasFile(key) && FileSystem.size(of: files.path(of: key)) > 0
    }

    package func isMissing(_ key: StoreKey) throws -> Bool {
        do {
            return try !examine(key)
        } catch let error as SQLiteError where error.kind == .corrupt {
            // It is there; what reads it says what is wrong with it.
            return false
        }
    }

    package func examine(_ key: StoreKey) throws -> Bool {
        guard let known = try sqliteCatalog.store(key) else { return true }
        guard try isThere(key) else { return false }
        let connection = try Connection(
            path: files.path(of: key), mode: .readOnly, cacheKiB: Self.lookCacheKiB)
        return try StoreProperties.name(in: connection) == known.name
    }

    /// For a look at a file that nobody need have open.
    private static let lookCacheKiB = 64

    package func strays() throws -> [String] {
        try files.strays { try sqliteCatalog.store($0) != nil }
    }

    package func words(for key: StoreKey) -> String { files.path(of: key) }

    package func finishResets() throws {
        // One that was cut off between two moves has its files beside their place.
        try ListPage.forEach(stores) { store in
            if try !isThere(store.key) { try files.finishReplacing(store.key) }
        }
    }

    package func catalogProblems() throws -> [String] {
        try CatalogCheck(path: files.catalogPath).problems()
    }

    package func problems(of key: StoreKey, lossesSince moment: Milliseconds) throws -> [String] {
        try migrate(key)
        return try StoreCheck(path: files.path(of: key), lossesSince: moment).problems()
    }

    /// Brings a store, which may be open, to this version.
    private func migrate(_ key: StoreKey) throws {
        let path = files.path(of: key)
        let lookedAt = try Connection(path: path, mode: .readOnly, cacheKiB: Self.lookCacheKiB)
        guard try Schemas.store.pendingCount(lookedAt) > 0 else { return }
        try Schemas.store.migrate(Connection(path: path, mode: .readWrite))
    }

    package func assets(of key: StoreKey) -> any AssetRows {
        StoredAssets(path: files.path(of: key))
    }
}
