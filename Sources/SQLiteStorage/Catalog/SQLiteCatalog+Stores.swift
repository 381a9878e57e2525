import CloudModel
import SQLite
import Storage

extension SQLiteCatalog {
    /// A store that has a file.
    package struct KnownStore: Sendable {
        package let container: ContainerID
        package let environment: Environment
        /// What its file calls itself; nil when the file was made before names and not opened since.
        package let name: [UInt8]?
        /// Whether links to shares may lead there that begin as those of earlier versions did.
        package let hasEarlyLinks: Bool
    }

    /// Every store that has been made, whether its file is there or not.
    package func stores() throws -> [KnownStore] { try stores(isCertain: true) }

    package func store(
        of container: ContainerID, in environment: Environment
    ) throws -> KnownStore? {
        try read { catalog in
            try catalog.first(
                """
                SELECT name, has_early_links FROM stores
                WHERE container = ? AND environment = ? AND is_certain = 1
                """,
                .text(container.folded), .text(environment.rawValue)
            ) { row in
                KnownStore(
                    container: container, environment: environment,
                    name: row.isNull(0) ? nil : row.array(0), hasEarlyLinks: row.int64(1) != 0)
            }
        }
    }

    /// Notes a store whose file is on the disk, under the name that the file has for itself.
    package func note(
        _ name: [UInt8], of container: ContainerID, in environment: Environment
    ) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try SQLiteCatalog.requireContainer(container, in: catalog)
            try catalog.run(
                """
                INSERT INTO stores (container, environment, name, is_certain) VALUES (?, ?, ?, 1)
                ON CONFLICT (container, environment) DO UPDATE SET
                    name = excluded.name, is_certain = 1, due_at = 0
                """, .text(container.folded), .text(environment.rawValue), .bytes(name))
        }
    }

    /// When a store has to be opened for work of its own.
    package struct DueMoment: Sendable {
        package let container: ContainerID
        package let environment: Environment
        package let due: Milliseconds

        package init(container: ContainerID, environment: Environment, due: Milliseconds) {
            self.container = container
            self.environment = environment
            self.due = due
        }
    }

    /// When each store is due; 0 for one that nobody has said anything of.
    package func dueMoments() throws -> [DueMoment] {
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
                return DueMoment(
                    container: container, environment: environment, due: row.int64(2))
            }
        }
    }

    /// Notes when stores are due; passes over those that it does not know.
    package func setDue(_ moments: [DueMoment]) throws {
        try write(endsWhatWasTrue: false) { catalog in
            for moment in moments {
                try catalog.run(
                    "UPDATE stores SET due_at = ? WHERE container = ? AND environment = ?",
                    .integer(moment.due), .text(moment.container.folded),
                    .text(moment.environment.rawValue))
            }
        }
    }

    /// Takes those stores for known which were made before the catalog knew them and have a file.
    package func settleStores(
        hasFile: (ContainerID, Environment) throws -> Bool
    ) throws {
        let open = try stores(isCertain: false)
        guard !open.isEmpty else { return }
        let found = try open.map { try hasFile($0.container, $0.environment) }
        try write(endsWhatWasTrue: false) { catalog in
            for (store, isThere) in zip(open, found) {
                let place: [CatalogValue] = [
                    .text(store.container.folded), .text(store.environment.rawValue),
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
                    container: container, environment: environment,
                    name: row.isNull(2) ? nil : row.array(2), hasEarlyLinks: row.int64(3) != 0)
            }
        }
    }
}
