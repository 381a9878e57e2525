#if PostgreSQL
    import Dispatch
    import PostgreSQL
    import Storage
    import Synchronization

    /// The sessions in which transactions of all threads run, each in one at a time.
    final class ConnectionPool: Sendable {
        private let server: ServerConnector
        private let idle = Mutex<[IdleConnection]>([])
        private let free: DispatchSemaphore
        private let waitSecondsMax: Int

        /// Hands a session from one thread to another.
        private struct IdleConnection: @unchecked Sendable {
            // Unchecked: it is taken out of the pool by one thread at a time.
            let connection: Connection
        }

        /// - Parameters:
        ///   - max: how many sessions there are at most.
        ///   - waitSecondsMax: how long anybody waits for one.
        init(_ server: ServerConnector, max: Int, waitSecondsMax: Int) {
            self.server = server
            self.waitSecondsMax = waitSecondsMax
            free = DispatchSemaphore(value: max)
        }

        /// Runs a body with a session, which goes back into the pool only if the body says so.
        ///
        /// - Throws: `StorageFailure.unavailable(.busy)` when none is free for long, `PostgreSQLError`.
        func with<Value>(
            _ body: (_ connection: Connection, _ keep: (Connection) -> Void) throws -> Value
        ) throws -> Value {
            let taken = try take()
            var kept: Connection?
            defer { give(kept) }
            return try body(taken) { kept = $0 }
        }

        /// Takes a session, which `give` brings back; it may have ended since it was last used.
        ///
        /// - Throws: as `with`.
        func take() throws -> Connection {
            guard free.wait(timeout: .now() + .seconds(waitSecondsMax)) == .success else {
                throw StorageFailure.unavailable(.busy)
            }
            if let known = idle.withLock({ $0.popLast() })?.connection { return known }
            do { return try connect() } catch {
                free.signal()
                throw error
            }
        }

        /// Brings back what `take` gave, or another in its place; nil for one that has ended.
        func give(_ connection: Connection?) {
            if let connection, !connection.isLost {
                connection.deadline = nil
                let idle = IdleConnection(connection: connection)
                self.idle.withLock { $0.append(idle) }
            }
            free.signal()
        }

        func connect() throws -> Connection { try server.connect() }
    }
#endif
