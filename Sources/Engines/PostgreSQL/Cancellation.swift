#if PostgreSQL
    import CPostgreSQL
    import Dispatch
    import Synchronization

    /// Asks a server to stop what it does for one session, on a thread of its own.
    ///
    /// What asks (`PQcancel`) connects anew, without a limit of its own: with a server that cannot be reached any more it
    /// comes back when TCP gives up.
    final class Cancellation: Sendable {
        /// How many sessions of a process ask at the same time, each on a thread; further ones ask again, as all do until
        /// they are answered.
        private static let askingMax = 32
        private static let askingCount = Mutex(0)

        // Nobody changes it.
        private nonisolated(unsafe) let handle: OpaquePointer?
        private let isAsking = Mutex(false)
        private let asking = DispatchGroup()
        private let queue = DispatchQueue(label: "postgresql.cancellation", qos: .userInitiated)

        /// - Parameter connection: of the session, which is connected.
        init(_ connection: OpaquePointer) { handle = PQgetCancel(connection) }

        deinit { PQfreeCancel(handle) }

        /// Asks, unless it is being asked; any thread.
        func ask() {
            guard handle != nil, begin() else { return }
            asking.enter()
            queue.async { [self] in
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
                    _ = PQcancel(handle, buffer.baseAddress, Int32(buffer.count))
                }
                end()
                asking.leave()
            }
        }

        private func begin() -> Bool {
            isAsking.withLock { isAsking in
                guard !isAsking else { return false }
                isAsking = Self.askingCount.withLock { count in
                    guard count < Self.askingMax else { return false }
                    count += 1
                    return true
                }
                return isAsking
            }
        }

        private func end() {
            Self.askingCount.withLock { $0 -= 1 }
            isAsking.withLock { $0 = false }
        }

        /// Waits until the server is not being asked any more: else it would stop what the session does next.
        ///
        /// - Returns: false where it still is at a moment.
        func isOver(by limit: DispatchTime) -> Bool { asking.wait(timeout: limit) == .success }
    }
#endif
