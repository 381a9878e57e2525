import CloudModel
import Files
import SQLite
import Storage

// Which stores there are, and what is wrong with them.
extension SQLiteEngine {
    package func stores(_ request: ListRequest) throws -> ListPage<KnownStore> {
        try sqliteCatalog.stores(request).map { store in
            KnownStore(
                key: store.key, due: store.due,
                isLeftOpen: FileSystem.size(of: files.path(of: store.key) + "-wal") > 0,
                isThere: try isThere(store.key))
        }
    }

    private func isThere(_ key: StoreKey) throws -> Bool {
        try files.hasFile(key) && FileSystem.size(of: files.path(of: key)) > 0
    }

    package func examine(_ keys: [StoreKey]) throws -> [Result<StoreFinding, any Error>] {
        keys.map { key in Result { try examine(key) } }
    }

    private func examine(_ key: StoreKey) throws -> StoreFinding {
        guard let known = try sqliteCatalog.store(key) else { return .unknown }
        guard try isThere(key) else { return .missing }
        let connection = try Connection(
            path: files.path(of: key), mode: .readOnly, cacheKiB: Self.lookCacheKiB)
        return try StoreProperties.name(in: connection) == known.name ? .there : .missing
    }

    /// For a look at a file that nobody need have open.
    private static let lookCacheKiB = 64

    package func problems(
        of part: EnginePart, lossesSince moment: Milliseconds
    ) throws -> [String] {
        let path = files.path(of: part)
        switch part {
        case .catalog:
            return try CatalogCheck(path: path).problems()
                + files.strays { try sqliteCatalog.store($0) != nil }
                .map { "files that no store owns: \($0)" }
        case .store(let key):
            try migrate(key)
            return try StoreCheck(path: path, lossesSince: moment).problems()
        }
    }

    /// Brings a store, which may be open, to this version.
    func migrate(_ key: StoreKey) throws {
        let path = files.path(of: key)
        let lookedAt = try Connection(path: path, mode: .readOnly, cacheKiB: Self.lookCacheKiB)
        guard try Schemas.store.pendingCount(lookedAt) > 0 else { return }
        try Schemas.store.migrate(Connection(path: path, mode: .readWrite))
    }
}
