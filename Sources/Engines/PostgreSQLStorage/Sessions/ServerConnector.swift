#if PostgreSQL
    import Background
    import Platform
    import PostgreSQL
    import Synchronization

    /// Connects to a server, and the more seldom the longer it does not answer.
    package final class ServerConnector: Sendable {
        /// Waits for milliseconds.
        package typealias Pause = @Sendable (Int64) -> Void

        /// How long an attempt is put off.
        package static let backoff = Backoff(first: 40, longest: 1_000)

        let options: ConnectionOptions
        private let failures = Atomic<Int>(0)
        private let pause: Pause

        package init(
            _ options: ConnectionOptions, pause: @escaping Pause = { usleep(UInt32($0) * 1_000) }
        ) {
            self.options = options
            self.pause = pause
        }

        /// Whether the last attempt succeeded; so it is before the first.
        var isReachable: Bool { failures.load(ordering: .relaxed) == 0 }

        /// Connects; waits before it where the last attempts have failed, each caller for a time of its own, so that they
        /// do not all come at once when the server is there again.
        ///
        /// - Throws: `PostgreSQLError`.
        package func connect() throws -> Connection {
            let failed = failures.load(ordering: .relaxed)
            if failed > 0 { pause(Self.backoff.milliseconds(after: failed)) }
            do {
                let connection = try Connection(options)
                failures.store(0, ordering: .relaxed)
                return connection
            } catch {
                failures.add(1, ordering: .relaxed)
                throw error
            }
        }
    }
#endif
