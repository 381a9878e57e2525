#if PostgreSQL
    import PostgreSQL

    /// The sessions that all stores of a process share: those of reads, and those of groups of writes.
    ///
    /// Apart, so that many reads keep no write from its turn.
    package struct StoreSessions: Sendable {
        /// What the tables of stores have to themselves.
        static let schema = "stores"

        let server: ServerConnector
        let readers: ConnectionPool
        let writers: ConnectionPool

        /// - Parameters:
        ///   - readersMax: how many reads go on at the same time.
        ///   - writersMax: how many stores commit at the same time.
        ///   - waitSecondsMax: how long each waits for its turn.
        package init(
            _ options: ConnectionOptions, readersMax: Int, writersMax: Int, waitSecondsMax: Int
        ) {
            server = ServerConnector(Self.options(options))
            readers = ConnectionPool(server, max: readersMax, waitSecondsMax: waitSecondsMax)
            writers = ConnectionPool(server, max: writersMax, waitSecondsMax: waitSecondsMax)
        }

        /// What a session on the tables of stores is like.
        static func options(_ options: ConnectionOptions) -> ConnectionOptions {
            var options = options
            options.settings += ["SET search_path = \(schema), public"] + StatisticsPace.settings
            return options
        }
    }
#endif
