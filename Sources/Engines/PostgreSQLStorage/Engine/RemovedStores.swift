#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Stores that nobody reaches any more, whose rows wait for being removed.
    struct RemovedStores {
        struct Removed {
            let number: Int64
            /// The container that was removed with it.
            let container: String?
            /// By `StoreCreation.label`; nil for one that went without its container.
            let label: [UInt8]?
            let removedAt: Milliseconds
            /// Whether its rows have gone, and only this one tells of it.
            let isEmptied: Bool
        }

        /// For how long after a container has gone something may still be put in place that was on its way to a bucket.
        ///
        /// Far more than the attempts to put an object take together.
        static let lateMilliseconds: Milliseconds = 3_600_000

        /// Which rows may go, in SQL.
        ///
        /// A store that a reset makes counts as removed until it takes the other's place. A process that lives has it open,
        /// and it has a counter, as no other one has that was removed.
        private static let mayGo = """
            removed_at IS NOT NULL AND NOT (
                EXISTS (SELECT 1 FROM progress g WHERE g.store = s.store)
                AND EXISTS (
                    SELECT 1 FROM openings o
                    WHERE o.store = s.store AND \(LivingProcesses.lives("o.process"))))
            """

        private let connection: Connection
        private let now: Milliseconds
        private let mayGo: String

        /// - Parameter isAlone: whether no process has the database, whose catalog perhaps is not there yet.
        init(_ connection: Connection, now: Milliseconds, isAlone: Bool = false) {
            self.connection = connection
            self.now = now
            mayGo = isAlone ? "removed_at IS NOT NULL" : Self.mayGo
        }

        func all() throws -> [Removed] {
            let rows = try connection.run(
                """
                SELECT store, container, label, removed_at, octet_length(token_key) FROM stores s
                WHERE \(mayGo) ORDER BY store
                """)
            return (0..<rows.count).map {
                Removed(
                    number: rows.number($0, 0),
                    container: rows.isNull($0, 1) ? nil : rows.text($0, 1),
                    label: rows.isNull($0, 2) ? nil : Array(rows.bytes($0, 2)),
                    removedAt: rows.number($0, 3), isEmptied: rows.number($0, 4) == 0)
            }
        }

        /// Whether others are to remove what they keep of a store that was removed with its container: at once, and again
        /// when nothing comes in any more.
        func isDue(_ removed: Removed) -> Bool {
            !removed.isEmptied || removed.removedAt <= now - Self.lateMilliseconds
        }

        /// Removes all that a container has left, unless somebody else does.
        ///
        /// - Parameter others: as of `StorageEngine.recover`.
        func finish(
            _ name: String, _ others: (StoreKey, _ goesOn: () -> Bool) throws -> Void
        ) throws {
            guard let container = ContainerID(name) else { return try removeAll(of: name) }
            let turn = NameTurn(of: container, connection)
            guard try turn.takeIfFree() else { return }
            defer { turn.giveBack() }
            for key in try left(of: container) {
                // NB: what does not answer keeps nobody from starting; the next start tries.
                do { try others(key) { turn.isHeld } } catch { return }
            }
            try removeAll(of: name)
        }

        /// Removes the rows of the stores that were removed with a container.
        ///
        /// What says that they were stays for a while (`isDue`), without the key that made their tokens.
        func removeAll(of name: String) throws {
            for store in try all() where store.container == name && isDue(store) {
                guard !store.isEmptied else {
                    try forget(store.number)
                    continue
                }
                guard try clear(store.number) else { continue }
                _ = try connection.run(
                    """
                    UPDATE stores SET token_key = '', removed_at = $2
                    WHERE store = $1 AND removed_at IS NOT NULL
                    """, .number(store.number), .number(now))
            }
        }

        /// The container environments whose files nobody has removed or taken over meanwhile.
        ///
        /// What has come in under the name has its own files, and finds those of others by and by.
        private func left(of container: ContainerID) throws -> [StoreKey] {
            let labels = try all().filter { $0.container == container.folded && isDue($0) }
                .map(\.label)
            return try Environment.allCases.map { StoreKey(container, $0) }.filter { key in
                let label = StoreCreation.label(of: key)
                return try labels.contains(label) && !hasComeIn(key)
            }
        }

        /// Whether a store of a container environment has been made or come from elsewhere, or is about to.
        private func hasComeIn(_ key: StoreKey) throws -> Bool {
            let rows = try connection.run(
                """
                SELECT EXISTS (
                        SELECT 1 FROM catalog.stores c WHERE c.container = $1 AND c.environment = $2)
                    OR EXISTS (SELECT 1 FROM stores WHERE label = $3 AND removed_at IS NULL)
                """, .text(key.container.folded), .text(key.environment.rawValue),
                .bytes(StoreCreation.label(of: key)))
            return rows.number(0, 0) != 0
        }

        /// Removes the rows of a store table by table, each in a transaction of its own, and what says that they wait last.
        ///
        /// What says where it stands goes first, so a reset that still makes it does not come to its end.
        func removeRows(of store: Int64) throws {
            if try clear(store) { try forget(store) }
        }

        private func forget(_ store: Int64) throws {
            _ = try connection.run(
                "DELETE FROM stores WHERE store = $1 AND removed_at IS NOT NULL", .number(store))
        }

        /// Removes all rows but what says that they wait; whether they may go.
        private func clear(_ store: Int64) throws -> Bool {
            guard try claim(store) else { return false }
            for table in try TableLayout.tables(of: connection) where table.hasStore {
                guard table.name != "stores" else { continue }
                _ = try connection.run(
                    "DELETE FROM \(table.name) WHERE store = $1", .number(store))
            }
            return true
        }

        /// Whether the rows of a store may go: from then on it never comes into use.
        private func claim(_ store: Int64) throws -> Bool {
            // A reset that gives it a name meanwhile has its row, and this one waits and finds it in use.
            try connection.run(
                """
                WITH claimed AS (
                    SELECT store FROM stores s WHERE store = $1 AND \(mayGo) FOR UPDATE),
                gone AS (DELETE FROM progress WHERE store IN (SELECT store FROM claimed))
                SELECT store FROM claimed
                """, .number(store)
            ).count == 1
        }
    }
#endif
