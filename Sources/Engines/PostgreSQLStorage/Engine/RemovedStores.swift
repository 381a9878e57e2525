#if PostgreSQL
    import PostgreSQL

    /// Stores that nobody reaches any more, whose rows wait for being removed.
    struct RemovedStores {
        struct Removed {
            let number: Int64
            /// The container that was removed with it.
            let container: String?
        }

        private let connection: Connection

        init(_ connection: Connection) { self.connection = connection }

        func all() throws -> [Removed] {
            let rows = try connection.run(
                "SELECT store, container FROM stores WHERE removed_at IS NOT NULL ORDER BY store")
            return (0..<rows.count).map {
                Removed(
                    number: rows.number($0, 0),
                    container: rows.isNull($0, 1) ? nil : rows.text($0, 1))
            }
        }

        /// Removes the rows of a store table by table, each in a transaction of its own, and what says that they wait last.
        func removeRows(of store: Int64) throws {
            for table in try TableLayout.tables(of: connection) where table.hasStore {
                guard table.name != "stores" else { continue }
                _ = try connection.run(
                    "DELETE FROM \(table.name) WHERE store = $1", .number(store))
            }
            _ = try connection.run(
                "DELETE FROM stores WHERE store = $1 AND removed_at IS NOT NULL", .number(store))
        }
    }
#endif
