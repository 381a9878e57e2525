#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Whose turn it is with what lies under a container's name, in the database and in files beside it.
    ///
    /// Who removes a container has the turn until all is gone, and loses it with their session. Meanwhile nobody makes a
    /// store of that name (`StoreCreation.claim`), or takes one in (`StoreRowTaker`).
    struct NameTurn {
        /// Locks the name of a store, which the first parameter says.
        static let lock = "hashtextextended(encode($1, 'hex'), 0)"
        private static let waitSeconds = 60

        private let connection: Connection
        private let labels: [[UInt8]]

        /// - Parameter connection: the turn's own.
        init(of container: ContainerID, _ connection: Connection) {
            self.connection = connection
            labels = Environment.allCases.map { StoreCreation.label(of: StoreKey(container, $0)) }
        }

        /// Takes it, once nobody else has it.
        ///
        /// - Throws: `PostgreSQLError`.
        func take() throws {
            _ = try connection.run([Query("SET lock_timeout = '\(Self.waitSeconds)s'")])
            _ = try connection.run(
                labels.map { Query("SELECT pg_advisory_lock(\(Self.lock))", .bytes($0)) })
            _ = try connection.run([Query("SET lock_timeout = 0")])
        }

        /// Takes it where nobody has it; whether it did.
        func takeIfFree() throws -> Bool {
            let rows = try connection.run(
                labels.map { Query("SELECT pg_try_advisory_lock(\(Self.lock))", .bytes($0)) })
            let isTaken = rows.map { $0.number(0, 0) != 0 }
            guard isTaken.contains(false) else { return true }
            for (label, isTaken) in zip(labels, isTaken) where isTaken { try giveBack(label) }
            return false
        }

        /// Whether it has not been lost.
        var isHeld: Bool {
            // NB: it ends with its session, whatever has ended that.
            (try? connection.run("SELECT 1")) != nil
        }

        func giveBack() {
            // NB: a session that does not answer has lost it.
            try? labels.forEach(giveBack)
        }

        private func giveBack(_ label: [UInt8]) throws {
            _ = try connection.run("SELECT pg_advisory_unlock(\(Self.lock))", .bytes(label))
        }
    }
#endif
