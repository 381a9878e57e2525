#if PostgreSQL
    import Background
    import Dispatch
    import Platform
    import PostgreSQL
    import Storage
    import Synchronization

    /// Hears of other processes' commits: as they tell of them, and by asking every 250 ms.
    ///
    /// One session, straight to the server, listens, and asks with one statement for all stores that are watched. One
    /// that has ended is begun again. A thread of its own waits for it.
    package final class CommitListener: Sendable {
        /// What an exchange of commits has done.
        package struct Measurements: Sendable {
            /// How often the listener has connected.
            package var sessions = 0
            /// Statements that asked where stores stand.
            package var questions = 0
            /// Messages of processes, this one's own among them.
            package var heard = 0
            /// Messages to other processes, each of many commits.
            package var sent = 0
        }

        private struct State {
            var isClosed = false
            var measurements = Measurements()
        }

        /// How long a process does without a word from the others.
        package static let intervalMilliseconds = 250
        /// The pauses before a session is tried again.
        private static let backoff = Backoff(first: 100, longest: 1_000)

        private let options: ConnectionOptions
        private let state = Mutex(State())
        private let presence: ProcessPresence?
        private let watched: @Sendable () -> [Int64]
        private let found: @Sendable (Int64, CommitState) -> Void
        private let gone: @Sendable (Int64) -> Void

        /// - Parameters:
        ///   - presence: of the process, which has its rounds here; nil for none.
        ///   - watched: the stores to ask for.
        ///   - gone: called with a store that is no more.
        ///   - found: called on the listener's thread with where a store stands, known already or not.
        init(
            _ options: ConnectionOptions, _ presence: ProcessPresence?,
            watched: @escaping @Sendable () -> [Int64],
            gone: @escaping @Sendable (Int64) -> Void,
            found: @escaping @Sendable (Int64, CommitState) -> Void
        ) {
            self.options = options
            self.presence = presence
            self.watched = watched
            (self.found, self.gone) = (found, gone)
        }

        var measurements: Measurements { state.withLock { $0.measurements } }

        /// Listens on the calling thread until it is closed.
        func run() {
            var failures = 0
            while !isClosed {
                do {
                    let connection = try Connection(options)
                    state.withLock { $0.measurements.sessions += 1 }
                    try listen(connection) { failures = 0 }
                } catch {
                    presence?.loseSession()
                    // NB: a server that is away is tried again, not by all processes at once.
                    failures += 1
                    usleep(UInt32(Self.backoff.milliseconds(after: failures)) * 1_000)
                }
            }
        }

        private var isClosed: Bool { state.withLock { $0.isClosed } }

        private func listen(_ connection: Connection, isWell: () -> Void) throws {
            _ = try connection.run("LISTEN \(CommitAnnouncements.channel)")
            var next = DispatchTime.now()
            while !isClosed {
                // First of all: what was committed before it listened nobody tells.
                if DispatchTime.now() >= next {
                    try presence?.round(connection)
                    try askAll(connection)
                    isWell()
                    next = .now() + .milliseconds(Self.intervalMilliseconds)
                }
                for message in try connection.notifications(until: next) {
                    state.withLock { $0.measurements.heard += 1 }
                    if message == CommitAnnouncements.catalogMoved {
                        try presence?.round(connection)
                    }
                    for (store, commit) in CommitState.states(in: message) { found(store, commit) }
                }
            }
        }

        private func askAll(_ connection: Connection) throws {
            let stores = watched()
            guard !stores.isEmpty else { return }
            state.withLock { $0.measurements.questions += 1 }
            let rows = try connection.run(
                """
                SELECT store, last_position, incarnation, commit_count, next_work, next_notice,
                    follower_revision
                FROM progress
                WHERE store = ANY ($1)
                """, .numbers(stores))
            var missing = Set(stores)
            for row in 0..<rows.count {
                missing.remove(rows.number(row, 0))
                let commit = CommitState(
                    position: rows.number(row, 1), commits: rows.number(row, 3),
                    life: rows.number(row, 2),
                    queues: CommitState.Queues(
                        work: rows.number(row, 4), notice: rows.number(row, 5),
                        followers: rows.number(row, 6)))
                found(rows.number(row, 0), commit)
            }
            for store in missing { gone(store) }
        }

        /// Has `run` return, within the time between two questions.
        func close() { state.withLock { $0.isClosed = true } }
    }
#endif
