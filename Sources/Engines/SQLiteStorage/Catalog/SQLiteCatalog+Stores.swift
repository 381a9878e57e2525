import CloudModel
import SQLite
import Storage

extension SQLiteCatalog {
    /// A store that has a file.
    struct KnownStore: Sendable {
        let key: StoreKey
        /// What its file calls itself.
        let name: [UInt8]
    }

    /// Every store that has been made, whether its file is there or not.
    func stores() throws -> [KnownStore] {
        try read { catalog in
            try catalog.all(
                """
                SELECT c.name, s.environment, s.name FROM stores s
                JOIN containers c ON c.folded = s.container ORDER BY s.container, s.environment
                """
            ) { KnownStore(key: try SQLiteCatalog.storeKey($0), name: $0.array(2)) }
        }
    }

    /// The key of a store, of which the first two columns have the container's name and the environment.
    private static func storeKey(_ row: Statement) throws -> StoreKey {
        guard let container = ContainerID(row.string(0)),
            let environment = Environment(rawValue: row.string(1))
        else { throw SQLiteError.unreadable("stores") }
        return StoreKey(container, environment)
    }

    func store(_ key: StoreKey) throws -> KnownStore? {
        try read { catalog in
            try catalog.first(
                "SELECT name FROM stores WHERE container = ? AND environment = ?",
                .text(key.container.folded), .text(key.environment.rawValue)
            ) { KnownStore(key: key, name: $0.array(0)) }
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

    /// When each store is due; 0 for one that nobody has said anything of.
    func dueMoments() throws -> [DueMoment] {
        try read { catalog in
            try catalog.all(
                """
                SELECT c.name, s.environment, s.due_at FROM stores s
                JOIN containers c ON c.folded = s.container
                """
            ) { DueMoment(key: try SQLiteCatalog.storeKey($0), due: $0.int64(2)) }
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
}
