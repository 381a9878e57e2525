#if PostgreSQL
    /// How a server is reached, and what a session is like.
    package struct ConnectionOptions: Sendable {
        /// A URL, `postgresql://…`, or words as `host=/run/postgresql dbname=app`.
        package var address: String
        /// What counts where the address does not say otherwise, by libpq's names.
        package var defaults: [String: String] = [:]
        /// Empty where the server asks for none; nobody is shown it.
        package var password = ""
        /// A session begins in milliseconds; a server that is starting says so, and is asked again.
        package var connectSecondsMax = 10
        /// After so long without an answer the server is asked to stop; after twice as long the connection is given up.
        ///
        /// Far above what any question takes that the engine asks, so that only a stuck server comes to it.
        package var answerMillisecondsMax = 30_000
        /// What the server shows of the session, whatever the address says.
        package var name = "lenticular"
        /// Statements that each session begins with.
        package var settings: [String] = []

        package init(address: String) { self.address = address }
    }
#endif
