import CloudModel
import SQLite
import Storage

extension SQLiteCatalog {
    /// A store that has a file.
    struct NamedStore: Sendable {
        let key: StoreKey
        /// What its file calls itself.
        let name: [UInt8]
    }

    /// The stores that have been made, whether their files are there or not.
    package func stores(_ request: ListRequest) throws -> ListPage<KnownStore> {
        let query = ListQuery(
            name: "stores", columns: "c.name, s.environment, s.due_at", width: 3,
            tables: "stores s JOIN containers c ON c.folded = s.container",
            key: [("s.container", .text), ("s.environment", .text)],
            bounds: ListQuery.Bounds(textPrefix: request.prefix.lowercased()))
        return try read { catalog in
            try catalog.page(query, request) {
                let due = $0.int64(2)
                return KnownStore(
                    key: try SQLiteCatalog.storeKey($0),
                    due: due == SQLiteCatalog.neverDue ? nil : due)
            }
        }
    }

    /// The key of a store, of which the first two columns have the container's name and the environment.
    private static func storeKey(_ row: Statement) throws -> StoreKey {
        guard let container = ContainerID(row.string(0)),
            let environment = Environment(rawValue: row.string(1))
        else { throw SQLiteError.unreadable("stores") }
        return StoreKey(container, environment)
    }

    func store(_ key: StoreKey) throws -> NamedStore? {
        try read { catalog in
            try catalog.first(
                "SELECT name FROM stores WHERE container = ? AND environment = ?",
                .text(key.container.folded), .text(key.environment.rawValue)
            ) { NamedStore(key: key, name: $0.array(0)) }
        }
    }

    /// Notes a store whose file is on the disk, under the name that the file has for itself.
    func note(_ name: [UInt8], of key: StoreKey) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try SQLiteCatalog.requireContainer(key.container, in: catalog)
            try catalog.run(
                """
                INSERT OR REPLACE INTO stores (container, environment, name) VALUES (?, ?, ?)
                """, .text(key.container.folded), .text(key.environment.rawValue), .bytes(name))
        }
    }

    /// What stands in a row for a moment that was never set.
    static let neverDue: Milliseconds = 0

    /// Notes when stores are due; passes over those that it does not know.
    func setDue(_ stores: [KnownStore]) throws {
        try write(endsWhatWasTrue: false) { catalog in
            for store in stores {
                try catalog.run(
                    "UPDATE stores SET due_at = ? WHERE container = ? AND environment = ?",
                    .integer(store.due ?? Self.neverDue), .text(store.key.container.folded),
                    .text(store.key.environment.rawValue))
            }
        }
    }
}
