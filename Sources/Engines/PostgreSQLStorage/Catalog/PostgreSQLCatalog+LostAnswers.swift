#if PostgreSQL
    import Dispatch
    import Platform
    import PostgreSQL
    import Storage

    // A commit whose answer is lost is looked up, and the process goes on whatever comes of it: what it keeps of the
    // catalog counts for a version, which each change that ends what was true moves within its own transaction. So one
    // that comes about later is met as those of other processes are.
    extension PostgreSQLCatalog {
        /// For how long a server is looked for that has gone during a commit.
        private static let lookSeconds = 5
        private static let pauseMicroseconds: UInt32 = 100_000

        /// Finds out whether a transaction is committed whose commit was sent.
        ///
        /// - Throws: `StorageFailure.indeterminate` where no server says so in time.
        func isCommitted(_ mark: CommitMarks.Mark) throws -> Bool {
            let end = DispatchTime.now() + .seconds(Self.lookSeconds)
            while true {
                do { return try isThere(mark, until: end) } catch is PostgreSQLError
                    where DispatchTime.now() < end
                {
                    usleep(Self.pauseMicroseconds)
                } catch { throw StorageFailure.indeterminate }
            }
        }

        /// Looks for a mark in another session, once its transaction has ended: it had the turn.
        private func isThere(_ mark: CommitMarks.Mark, until end: DispatchTime) throws -> Bool {
            let connection = try writers.connect()
            connection.deadline = max(end, .now() + .seconds(1))
            let rows = try connection.run(turn + [mark.looking])
            switch connection.commit(after: []) {
            case .committed: return rows[turn.count].count == 1
            case .undone(let error), .indeterminate(let error): throw error
            }
        }
    }
#endif
