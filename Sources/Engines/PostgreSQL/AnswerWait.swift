#if PostgreSQL
    import CPostgreSQL
    import Dispatch
    import Platform

    /// Waits for a server's answers, for so long.
    struct AnswerWait {
        private let handle: OpaquePointer
        private var limit: DispatchTime
        private let grace: DispatchTimeInterval
        private let cancellation: Cancellation
        private var hasAsked = false
        /// When nobody waits any longer for a server that was asked to stop.
        private var end: DispatchTime?
        /// How often it is asked.
        private static let cancelMilliseconds = 500

        /// - Parameters:
        ///   - limit: when the server is asked to stop.
        ///   - grace: for how long it may take to do so.
        init(
            _ handle: OpaquePointer, until limit: DispatchTime, grace: DispatchTimeInterval,
            _ cancellation: Cancellation
        ) {
            self.handle = handle
            self.limit = limit
            self.grace = grace
            self.cancellation = cancellation
        }

        /// Sends all that waits to be sent, and takes in what comes meanwhile.
        mutating func flush() throws {
            while true {
                switch PQflush(handle) {
                case 0: return
                case 1:
                    if try wait(for: Int16(POLLIN | POLLOUT)) & Int16(POLLIN) != 0 { try consume() }
                default: throw PostgreSQLError(lost: handle)
                }
            }
        }

        /// The next answer; nil for a gap between two.
        mutating func next() throws -> OpaquePointer? {
            while PQisBusy(handle) != 0 {
                try flush()
                _ = try wait(for: Int16(POLLIN))
                try consume()
            }
            return PQgetResult(handle)
        }

        private func consume() throws {
            // What the server said before it went is still read.
            if PQconsumeInput(handle) == 0, PQisBusy(handle) != 0 {
                throw PostgreSQLError(lost: handle)
            }
        }

        /// - Returns: what has come about.
        private mutating func wait(for events: Int16) throws -> Int16 {
            var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            guard descriptor.fd >= 0 else { throw PostgreSQLError(lost: handle) }
            while true {
                let now = DispatchTime.now()
                if now >= limit {
                    let end = end ?? now + grace
                    self.end = end
                    guard now < end else { throw giveUp() }
                    // One that has not begun yet does not hear it, and is asked again.
                    cancellation.ask()
                    hasAsked = true
                    limit = min(end, now + .milliseconds(Self.cancelMilliseconds))
                }
                let left = (limit.uptimeNanoseconds &- now.uptimeNanoseconds) / 1_000_000 + 1
                let count = poll(&descriptor, 1, Int32(clamping: min(left, 60_000)))
                if count > 0 { return descriptor.revents }
                if count < 0, errno != EINTR { throw PostgreSQLError(lost: handle) }
            }
        }

        /// Ends the session where the server may still be asked to stop, which would then be what comes next.
        func settle() {
            guard hasAsked, PQstatus(handle) == CONNECTION_OK else { return }
            let limit = DispatchTime.now() + .milliseconds(Self.cancelMilliseconds)
            if !cancellation.isOver(by: limit) { shutDown() }
        }

        private func shutDown() {
            _ = shutdown(PQsocket(handle), Int32(SHUT_RDWR))
            _ = PQconsumeInput(handle)
        }

        /// Nothing comes any more: whatever was sent may have been done.
        private func giveUp() -> PostgreSQLError {
            shutDown()
            return PostgreSQLError(
                kind: .lost, state: "", message: "the server does not answer", endsSession: true)
        }
    }
#endif
