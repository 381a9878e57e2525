#if PostgreSQL
    /// A database beside another one that is there for as long as somebody reads in it, such as a backup.
    ///
    /// Its maker has a session in it all the time, so that another process does not take it for one that was left behind.
    /// Before that session has begun, nobody looks: who makes and who removes such databases take turns.
    package final class ScratchDatabase {
        private static let prefix = "scratch_lenticular_"
        /// What those who make and remove them take turns by, in the database beside which they are.
        package static let turnLock: Int64 = 0x4c65_6e53

        /// No other database of the server is called so.
        package let name: String
        private let maker: Connection
        private var own: Connection?

        /// Makes it, and removes those that a process has left that ended.
        ///
        /// - Parameters:
        ///   - options: the URL by which the other database is reached; its role must be allowed to make databases.
        ///   - suffix: sets it apart from others that are there at the same time; letters and digits.
        /// - Throws: `PostgreSQLError`, of the kind `refused` where the role is not.
        package init(beside options: ConnectionOptions, suffix: String) throws {
            maker = try Connection(options)
            let home = try maker.run(
                "SELECT oid::text FROM pg_database WHERE datname = current_database()"
            ).text(0, 0)
            let prefix = "\(Self.prefix)\(home)_"
            name = prefix + suffix
            try inTurn {
                try removeLeft(prefix)
                try maker.run(
                    script: "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
                )
                own = try Connection(Self.options(options, name))
            }
        }

        /// Runs a body while no other process makes or removes one.
        private func inTurn(_ body: () throws -> Void) throws {
            // As long as the others take, for whom the server makes files.
            maker.deadline = .distantFuture
            _ = try maker.run("SELECT pg_advisory_lock($1)", .number(Self.turnLock))
            // NB: a session that is gone holds no lock.
            defer { _ = try? maker.run("SELECT pg_advisory_unlock($1)", .number(Self.turnLock)) }
            try body()
        }

        deinit { remove() }

        /// The URL of a database of another name on the same server.
        package static func url(_ url: String, of name: String) -> String {
            // Of two names libpq takes the last one.
            url + (url.contains("?") ? "&" : "?") + "dbname=\(name)"
        }

        private static func options(
            _ options: ConnectionOptions, _ name: String
        ) -> ConnectionOptions {
            var options = options
            options.address = url(options.address, of: name)
            return options
        }

        private func removeLeft(_ prefix: String) throws {
            // The server would wait for sessions to end for five seconds.
            let found = try maker.run(
                """
                SELECT datname::text FROM pg_database d
                WHERE starts_with(datname::text, '\(prefix)')
                    AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datid = d.oid)
                """)
            for row in 0..<found.count {
                // NB: one that somebody has a session in is theirs.
                try? maker.run(script: "DROP DATABASE IF EXISTS \(found.text(row, 0))")
            }
        }

        /// Removes it with what is in it; again does nothing.
        package func remove() {
            guard own != nil else { return }
            own = nil
            // NB: what stays goes when the next one is made.
            try? inTurn {
                try maker.run(script: "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
            }
        }
    }
#endif
