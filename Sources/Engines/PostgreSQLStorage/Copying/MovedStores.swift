#if PostgreSQL
    import CloudModel
    import Dispatch
    import Platform
    import PostgreSQL
    import Storage
    import StoredRows

    /// The stores of containers that have left the database, or are being copied.
    ///
    /// Each process that hears of it closes them, and opens none of them again. Who copies waits for those that live.
    /// One that does not hear of it, since it was stopped or cut off, is held off by the store's counter: the copy locks it
    /// once behind the mark, and each group looks for the mark behind its own lock. So what was acknowledged is in the
    /// copy, and what comes later is refused.
    enum MovedStores {
        /// Has a row where a container is out of use.
        ///
        /// - Parameter container: nil for one of a store that no catalog knows.
        static func mark(of container: ContainerID?) -> Query {
            guard let container else { return Query("SELECT 1 WHERE false") }
            return Query(
                "SELECT 1 FROM catalog.container_settings WHERE container = $1 AND key = $2",
                .text(container.folded), .text(ContainerRecord.movedKey))
        }

        /// Waits for the group that has the store's counter; each later one finds the mark.
        ///
        /// - Throws: `StorageFailure.missing`, `PostgreSQLError`.
        static func waitForGroup(in store: Int64, _ connection: Connection) throws {
            _ = try Progress(connection.run([Progress.query(store, page: 0, locked: true)])[0])
        }
    }

    extension PostgreSQLEngine {
        /// How long the others have for what is on its way in their stores.
        private static let closingSeconds = 30
        private static let lookMicroseconds: UInt32 = 20_000

        /// Has the open stores closed whose containers are out of use by now.
        func closeMoved() throws {
            let open = openNumbers
            let moved = try session { connection in
                // A close while the database was away has left its note.
                _ = try connection.run(
                    """
                    DELETE FROM openings WHERE process = $1 AND NOT store = ANY ($2)
                        AND store IN (
                            SELECT s.store FROM stores s JOIN catalog.stores c ON c.name = s.name
                                JOIN catalog.container_settings m ON m.container = c.container
                            WHERE m.key = $3)
                    """, .bytes(process), .numbers(open), .text(ContainerRecord.movedKey))
                return try Self.moved(connection)
            }
            for key in openKeys where moved.contains(key.container.folded) { options.onGone(key) }
        }

        private static func moved(_ connection: Connection) throws -> Set<String> {
            let rows = try connection.run(
                "SELECT container FROM catalog.container_settings WHERE key = $1",
                .text(ContainerRecord.movedKey))
            return Set((0..<rows.count).map { rows.text($0, 0) })
        }

        /// Waits until no other process that lives has a store open.
        ///
        /// - Throws: `CopyRefusal` where they do not close it.
        func waitUntilClosed(
            _ key: StoreKey, _ number: Int64, _ connection: Connection
        ) throws {
            let end = DispatchTime.now() + .seconds(Self.closingSeconds)
            let openings = Query(
                """
                SELECT count(*) FROM openings o
                WHERE o.store = $1 AND o.process <> $2 AND \(LivingProcesses.lives("o.process"))
                """, .number(number), .bytes(process))
            while try connection.run([openings])[0].number(0, 0) > 0 {
                guard DispatchTime.now() < end else {
                    throw CopyRefusal(
                        "other servers have \(key.container.name) open and do not close it: ask again, or stop "
                            + "all but one")
                }
                usleep(Self.lookMicroseconds)
            }
        }
    }
#endif
