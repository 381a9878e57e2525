import CloudModel
import Storage
import StoredRows

/// A store that the engine has made.
package struct NamedStore: Sendable {
    package let key: StoreKey
    /// What its data call themselves.
    package let name: [UInt8]
}

extension SQLCatalog {
    /// The stores that have been made, whether their data are there or not.
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
                    key: try Self.storeKey($0),
                    due: due == Self.neverDue ? nil : due)
            }
        }
    }

    /// The key of a store, of which the first two columns have the container's name and the environment.
    private static func storeKey(_ row: any CatalogRow) throws -> StoreKey {
        guard let container = ContainerID(row.string(0)),
            let environment = Environment(rawValue: row.string(1))
        else { throw InvalidRow(table: "stores") }
        return StoreKey(container, environment)
    }

    package func store(_ key: StoreKey) throws -> NamedStore? {
        try read { catalog in
            try catalog.first(
                "SELECT name FROM stores WHERE container = ? AND environment = ?",
                .text(key.container.folded), .text(key.environment.rawValue)
            ) { NamedStore(key: key, name: $0.array(0)) }
        }
    }

    /// Notes a store whose data are on the disk, under the name that they have for themselves.
    package func note(_ name: [UInt8], of key: StoreKey) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try Self.requireContainer(key.container, in: catalog)
            try catalog.run(
                """
                INSERT INTO stores (container, environment, name) VALUES (?, ?, ?)
                ON CONFLICT (container, environment) DO UPDATE SET name = excluded.name, due_at = 0
                """, .text(key.container.folded), .text(key.environment.rawValue), .bytes(name))
        }
    }

    /// What stands in a row for a moment that was never set.
    private static var neverDue: Milliseconds { 0 }

    /// Notes when stores are due; passes over those that it does not know.
    package func setDue(_ stores: [KnownStore]) throws {
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
