#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQL
    import Storage
    import Synchronization

    /// The sessions with a standby, which reads feeds as long as it has all that the server had when they began.
    ///
    /// The counter's row tells: within a life of the store its commits are counted, one after the other. So a standby
    /// whose row says the same as the server's has the same store. One that says more has either gone on meanwhile, or
    /// has what a promotion of another one has lost: the server is asked again. The server reads for one that is behind
    /// or away.
    package final class StandbyReads: Sendable {
        /// One that did not answer is not asked for so long; then by one read at a time.
        private static let pauseSeconds = 5
        /// How long a read waits for the first answer, and again until a session is given up that does not stop asking.
        ///
        /// One that is silent must not hold up feeds, nor the threads that other reads need.
        fileprivate let answerMilliseconds: Int

        let sessions: ConnectionPool
        private let awayUntil = Mutex<DispatchTime?>(nil)
        private let counted = Mutex(Counts())

        /// What it was asked for.
        package struct Counts: Sendable {
            package var answered: UInt64 = 0
            /// It was behind or away: the server has read.
            package var passedOn: UInt64 = 0
        }

        /// - Parameters:
        ///   - options: of the stores' sessions, with the standby's address.
        ///   - max: how many reads go on at the same time.
        ///   - answerMilliseconds: how long it may take to say how far it is; twice that to connect.
        package init(
            _ options: ConnectionOptions, max: Int, answerMilliseconds: Int = 1_000
        ) {
            self.answerMilliseconds = answerMilliseconds
            var options = StoreSessions.options(options)
            options.connectSecondsMax = min(
                options.connectSecondsMax, answerMilliseconds * 2 / 1_000)
            options.answerMillisecondsMax = answerMilliseconds
            sessions = ConnectionPool(ServerConnector(options), max: max, waitSecondsMax: 1)
        }

        package var counts: Counts { counted.withLock { $0 } }

        /// Whether a read is to ask it: not for a while after it did not answer, and then one read for all.
        func mayAsk() -> Bool {
            awayUntil.withLock { awayUntil in
                guard let end = awayUntil else { return true }
                guard DispatchTime.now() >= end else { return false }
                awayUntil = Self.nextQuestion
                return true
            }
        }

        private static var nextQuestion: DispatchTime { .now() + .seconds(pauseSeconds) }

        func noteAway() { awayUntil.withLock { $0 = Self.nextQuestion } }

        func noteThere() { awayUntil.withLock { $0 = nil } }

        /// - Parameter answered: false where the server must read.
        func note(answered: Bool) {
            counted.withLock { counts in
                if answered { counts.answered &+= 1 } else { counts.passedOn &+= 1 }
            }
        }

        /// Whether a standby has all that the server had.
        ///
        /// - Parameters:
        ///   - reached: where the store stands on the standby.
        ///   - mark: where it stood on the server when the read began.
        ///   - again: asks the server once more.
        static func hasAll(
            _ reached: Progress, of mark: Progress, again: () throws -> Progress
        ) throws -> Bool {
            guard reached.isSameLife(as: mark), reached.commitCount >= mark.commitCount else {
                return false
            }
            guard reached.commitCount > mark.commitCount else { return true }
            let now = try again()
            return now.isSameLife(as: reached) && now.commitCount >= reached.commitCount
        }
    }

    extension PostgreSQLStore {
        /// Reads a feed on the standby.
        ///
        /// - Returns: nil, with nothing run, where the server must read.
        /// - Throws: what the body throws, `PostgreSQLError`, `StorageFailure`.
        func read<Value>(
            on standby: StandbyReads, _ stop: StopSignal?,
            _ body: (PostgreSQLSnapshot) throws -> Value
        ) throws -> Value? {
            var value: Value?
            if standby.mayAsk() {
                let mark = try serverProgress(stop)
                var hasBegun = false
                do {
                    value = try read(on: standby.sessions, stop) { snapshot in
                        let limit = snapshot.connection.deadline
                        snapshot.limit(milliseconds: standby.answerMilliseconds)
                        let reached = try snapshot.progress()
                        snapshot.connection.deadline = limit
                        standby.noteThere()
                        guard
                            try StandbyReads.hasAll(
                                reached, of: mark, again: { try serverProgress(stop) })
                        else { return nil }
                        hasBegun = true
                        return try body(snapshot)
                    }
                } catch  where !hasBegun && (error is PostgreSQLError || error is StorageFailure) {
                    standby.noteAway()
                }
            }
            standby.note(answered: value != nil)
            return value
        }
    }

    extension Progress {
        /// Whether no other life of the store has begun in between.
        fileprivate func isSameLife(as other: Progress) -> Bool {
            incarnation == other.incarnation && lifeCount == other.lifeCount && node == other.node
        }
    }
#endif
