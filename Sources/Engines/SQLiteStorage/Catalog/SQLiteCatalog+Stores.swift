import CloudModel
import SQLite
import Storage

extension SQLiteCatalog {
    /// A store that has a file.
    struct KnownStore: Sendable {
        let key: StoreKey
        /// What its file calls itself; nil when the file was made before names and not opened since.
        let name: [UInt8]?
        /// Whether links to shares may lead there that begin as those of earlier versions did.
        let hasEarlyLinks: Bool
    }

    /// Every store that has been made, whether its file is there or not.
    func stores() throws -> [KnownStore] { try stores(isCertain: true) }

    func store(_ key: StoreKey) throws -> KnownStore? {
        try read { catalog in
            try catalog.first(
                """
                SELECT name, has_early_links FROM stores
                WHERE container = ? AND environment = ? AND is_certain = 1
                """,
                .text(key.container.folded), .text(key.environment.rawValue)
            ) { row in
                KnownStore(
                    key: key,
                    name: row.isNull(0) ? nil : row.array(0), hasEarlyLinks: row.int64(1) != 0)
            }
        }
    }

    /// Notes a store whose file is on the disk, under the name that the file has for itself.
    func note(_ name: [UInt8], of key: StoreKey) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try SQLiteCatalog.requireContainer(key.container, in: catalog)
            try catalog.run(
                """
                INSERT INTO stores (container, environment, name, is_certain) VALUES (?, ?, ?, 1)
                ON CONFLICT (container, environment) DO UPDATE SET
                    name = excluded.name, is_certain = 1, due_at = 0
                """, .text(key.container.folded), .text(key.environment.rawValue), .bytes(name))
        }
    }

    /// When each store is due; 0 for one that nobody has said anything of.
    func dueMoments() throws -> [DueMoment] {
        try read { catalog in
            try catalog.all(
                """
                SELECT c.name, s.environment, s.due_at FROM stores s
                JOIN containers c ON c.folded = s.container WHERE s.is_certain = 1
                """
            ) { row in
                guard let container = ContainerID(row.string(0)),
                    let environment = Environment(rawValue: row.string(1))
                else { throw SQLiteError.unreadable("stores") }
                return DueMoment(key: StoreKey(container, environment), due: row.int64(2))
            }
        }
    }

    /// Notes when stores are due; passes over those that it does not know.
    func setDue(_ moments: [DueMoment]) throws {
        try write(endsWhatWasTrue: false) { catalog in
            for moment in moments {
                try catalog.run(
                    "UPDATE stores SET due_at = ? WHERE container = ? AND environment = ?",
                    .integer(moment.due), .text(moment.key.container.folded),
                    .text(moment.key.environment.rawValue))
            }
        }
    }

    /// Takes those stores for known which were made before the catalog knew them and have a file.
    func settleStores(
        hasFile: (ContainerID, Environment) throws -> Bool
    ) throws {
        let open = try stores(isCertain: false)
        guard !open.isEmpty else { return }
        let found = try open.map { try hasFile($0.key.container, $0.key.environment) }
        try write(endsWhatWasTrue: false) { catalog in
            for (store, isThere) in zip(open, found) {
                let place: [CatalogValue] = [
                    .text(store.key.container.folded), .text(store.key.environment.rawValue),
                ]
                try catalog.run(
                    isThere
                        ? "UPDATE stores SET is_certain = 1 WHERE container = ? AND environment = ?"
                        : "DELETE FROM stores WHERE container = ? AND environment = ?",
                    place[0], place[1])
            }
        }
    }

    private func stores(isCertain: Bool) throws -> [KnownStore] {
        try read { catalog in
            try catalog.all(
                """
                SELECT c.name, s.environment, s.name, s.has_early_links FROM stores s
                JOIN containers c ON c.folded = s.container WHERE s.is_certain = ?
                ORDER BY s.container, s.environment
                """, .integer(isCertain ? 1 : 0)
            ) { row in
                guard let container = ContainerID(row.string(0)),
                    let environment = Environment(rawValue: row.string(1))
                else { throw SQLiteError.unreadable("stores") }
                return KnownStore(
                    key: StoreKey(container, environment),
                    name: row.isNull(2) ? nil : row.array(2), hasEarlyLinks: row.int64(3) != 0)
            }
        }
    }
}
