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
        /// Whether a standby will do, which takes no writes; else its session fails as one that is lost.
        package var takesStandby = true
        /// What the server shows of the session, whatever the address says.
        package var name = "lenticular"
        /// Statements that each session begins with.
        package var settings: [String] = []

        package init(address: String) { self.address = address }
    }

    /// When a connection ends whose other side the network does not reach any more.
    ///
    /// As late as a question is given up, so that this ends what waits longer, as what copies does. It ends when nobody has
    /// confirmed what was sent, or, where nothing is sent, when the other side does not answer probes.
    struct NetworkLimits {
        private let unconfirmedMillisecondsMax: Int
        private let silenceSecondsMax: Int
        private let looks = 3

        init(answerMillisecondsMax: Int) {
            unconfirmedMillisecondsMax = answerMillisecondsMax * 2
            silenceSecondsMax = max(answerMillisecondsMax / 1_000, looks)
        }

        /// For this side, by libpq's names.
        var words: [String: String] {
            [
                "tcp_user_timeout": "\(unconfirmedMillisecondsMax)", "keepalives": "1",
                "keepalives_idle": "\(silenceSecondsMax)",
                "keepalives_interval": "\(silenceSecondsMax / looks)",
                "keepalives_count": "\(looks)",
            ]
        }

        /// For the server, which else holds what the session has locked until its system gives up, after hours.
        var setting: Query {
            Query(
                """
                SELECT set_config('tcp_user_timeout', '\(unconfirmedMillisecondsMax)', false),
                    set_config('tcp_keepalives_idle', '\(silenceSecondsMax)', false),
                    set_config('tcp_keepalives_interval', '\(silenceSecondsMax / looks)', false),
                    set_config('tcp_keepalives_count', '\(looks)', false)
                """)
        }
    }
#endif
