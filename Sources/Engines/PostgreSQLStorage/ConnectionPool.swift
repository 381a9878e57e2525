#if PostgreSQL
    import Dispatch
    import PostgreSQL
    import Storage
    import Synchronization

    /// The sessions in which reads of all threads run, each in one at a time.
    final class ConnectionPool: Sendable {
        private let options: ConnectionOptions
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
        ///   - waitSecondsMax: how long a read waits for one.
        init(_ options: ConnectionOptions, max: Int, waitSecondsMax: Int) {
            self.options = options
            self.waitSecondsMax = waitSecondsMax
            free = DispatchSemaphore(value: max)
        }

        /// Runs a body with a session, which goes back into the pool only if the body says so.
        ///
        /// - Throws: `StorageFailure.unavailable(.busy)` when none is free for long, `PostgreSQLError`.
        func with<Value>(
            _ body: (_ connection: Connection, _ keep: (Connection) -> Void) throws -> Value
        ) throws -> Value {
            guard free.wait(timeout: .now() + .seconds(waitSecondsMax)) == .success else {
                throw StorageFailure.unavailable(.busy)
            }
            defer { free.signal() }
            let taken = idle.withLock { $0.popLast() }?.connection
            return try body(try taken ?? connect()) { connection in
                let idle = IdleConnection(connection: connection)
                self.idle.withLock { $0.append(idle) }
            }
        }

        func connect() throws -> Connection { try Connection(options) }

        /// Ends all that nobody uses.
        func close() { idle.withLock { $0.removeAll() } }
    }
#endif
