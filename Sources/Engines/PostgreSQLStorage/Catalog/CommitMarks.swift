#if PostgreSQL
    import PostgreSQL
    import Synchronization

    /// What a process's commits are known by in the catalog: a row in which each writes its number.
    ///
    /// The number of a transaction would not do: a server that has crashed gives it to another, as does one that was
    /// promoted.
    final class CommitMarks: Sendable {
        private let process = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        private let last = Atomic<Int64>(0)

        /// The mark of one commit.
        ///
        /// Commits of a process come one after the other, and so do their looks.
        struct Mark {
            let process: [UInt8]
            let number: Int64
        }

        /// The mark of the commit that comes next.
        func next() -> Mark {
            Mark(process: process, number: last.add(1, ordering: .relaxed).newValue)
        }
    }

    extension CommitMarks.Mark {
        private static let dayMilliseconds = 86_400_000

        /// Writes the mark; the first of a process removes those of processes that have long been silent.
        var writing: [Query] {
            let write = Query(
                """
                INSERT INTO commit_marks (process, number, committed_at) VALUES ($1, $2, \(LivingProcesses.now))
                ON CONFLICT (process) DO UPDATE
                    SET number = excluded.number, committed_at = excluded.committed_at
                """, .bytes(process), .number(number))
            guard number == 1 else { return [write] }
            return [
                Query(
                    """
                    DELETE FROM commit_marks
                    WHERE committed_at < \(LivingProcesses.now) - \(Self.dayMilliseconds)
                    """),
                write,
            ]
        }

        /// Has a row where the mark is there; writes it once more.
        ///
        /// What a standby is waited for with, it has with all that was committed before it.
        var looking: Query {
            Query(
                """
                UPDATE commit_marks SET number = number WHERE process = $1 AND number = $2
                RETURNING number
                """, .bytes(process), .number(number))
        }
    }
#endif
