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
        ///   - groupSilenceSecondsMax: after how long the server ends a group of writes of which it hears no more.
        package init(
            _ options: ConnectionOptions, readersMax: Int, writersMax: Int, waitSecondsMax: Int,
            groupSilenceSecondsMax: Int = 15
        ) {
            server = ServerConnector(Self.options(options))
            readers = ConnectionPool(server, max: readersMax, waitSecondsMax: waitSecondsMax)
            var writing = Self.options(options)
            writing.settings.append(
                "SET idle_in_transaction_session_timeout = '\(groupSilenceSecondsMax)s'")
            writers = ConnectionPool(
                ServerConnector(writing), max: writersMax, waitSecondsMax: waitSecondsMax)
        }

        /// What a session on the tables of stores is like.
        static func options(_ options: ConnectionOptions) -> ConnectionOptions {
            var options = options
            options.settings += ["SET search_path = \(schema), public"] + StatisticsPace.settings
            return options
        }
    }
#endif
