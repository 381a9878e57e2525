#if PostgreSQL
    import Dispatch
    import Platform
    import PostgreSQL
    import Storage
    import Synchronization

    /// Tells other processes of this one's commits, from one session, after they are there.
    ///
    /// A notification takes a lock of the whole cluster, so none is sent in a write. While one is under way, later commits
    /// gather for the next. What is lost on the way the others find for themselves (`CommitListener`), so nothing is
    /// sent a second time.
    final class CommitAnnouncements: Sendable {
        private struct State {
            var waiting: [Int64: CommitState] = [:]
            /// Whether somebody sends, or is about to.
            var isSending = false
            var isClosed = false
            var sent = 0
        }

        static let channel = "commits_of_lenticular"
        /// The message that the catalog has moved; it names no store.
        static let catalogMoved = "catalog"
        /// For how long commits gather between two messages, so that there are at most 100 in a second.
        private static let gatheringMicroseconds: UInt32 = 10_000
        /// After a failure nobody connects again for so long.
        private static let pauseNanoseconds: UInt64 = 250_000_000

        private let options: ConnectionOptions
        private let state = Mutex(State())
        private let queue = DispatchQueue(label: "store.announcements", qos: .userInitiated)
        // Touched on the queue only.
        private nonisolated(unsafe) var connection: Connection?
        private nonisolated(unsafe) var next = DispatchTime(uptimeNanoseconds: 0)

        init(_ options: ConnectionOptions) {
            var options = options
            // A notification that is lost is found otherwise: none waits for the disk.
            options.settings.append("SET synchronous_commit = off")
            self.options = options
        }

        /// How many messages were sent.
        var sent: Int { state.withLock { $0.sent } }

        /// Tells of where a store stands, soon; does not wait.
        func announce(_ store: Int64, _ commit: CommitState) {
            let begins = state.withLock { state in
                guard !state.isClosed else { return false }
                state.waiting[store] = commit
                defer { state.isSending = true }
                return !state.isSending
            }
            if begins { queue.async { self.send() } }
        }

        private func send() {
            while true {
                let commits = state.withLock { state in
                    defer { state.waiting = [:] }
                    state.isSending = !state.waiting.isEmpty
                    return state.waiting
                }
                guard !commits.isEmpty else { return }
                notify(CommitState.payloads(of: commits))
                usleep(Self.gatheringMicroseconds)
            }
        }

        private func notify(_ payloads: [String]) {
            guard DispatchTime.now() >= next else { return }
            do {
                let open = try connection ?? Connection(options)
                connection = open
                _ = try open.run(
                    payloads.map {
                        Query(
                            "SELECT pg_notify('\(Self.channel)', convert_from($1, 'UTF8'))",
                            .text($0))
                    })
                state.withLock { $0.sent += payloads.count }
            } catch {
                // NB: the others ask for themselves; a further commit tries again.
                connection = nil
                next = .now() + .nanoseconds(Int(Self.pauseNanoseconds))
            }
        }

        /// Ends the session, once what is under way is sent.
        func close() {
            state.withLock { state in
                state.isClosed = true
                state.waiting = [:]
            }
            queue.sync { connection = nil }
        }
    }
#endif
