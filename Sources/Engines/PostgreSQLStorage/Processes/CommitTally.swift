#if PostgreSQL
    import Storage

    /// Which of a store's commits this process has been told of, by their numbers: 1, 2 and so on over all processes.
    ///
    /// Another life of the store may have lesser numbers. Nobody has been told of any of its commits.
    package struct CommitTally {
        /// Before the first look nobody knows of how many there were.
        private var told: CommitState?

        package init() {}

        /// Takes note of a commit of this process, of which its own waiters are told by themselves.
        ///
        /// - Returns: whether others have committed since, of whose commits nobody has been told yet.
        package mutating func committed(_ commit: CommitState) -> Bool {
            let before = numberTold(of: commit)
            if before.map({ commit.commits > $0 }) ?? true { told = commit }
            return before.map { commit.commits > $0 + 1 } ?? true
        }

        /// Takes note of how many commits there are.
        ///
        /// - Returns: whether there are some of which nobody has been told yet.
        package mutating func found(_ commit: CommitState) -> Bool {
            if let before = numberTold(of: commit), commit.commits <= before { return false }
            told = commit
            return true
        }

        /// The parts in which nothing can have changed since the commits that somebody was told of.
        package func unmoved(by commit: CommitState) -> Set<StorePart> {
            // Numbers of another life say nothing of this one.
            numberTold(of: commit) == nil ? [] : commit.queues.unmoved(since: told?.queues)
        }

        /// Of the life that a commit is of; nil where nobody was told of any.
        private func numberTold(of commit: CommitState) -> Int64? {
            told.flatMap { $0.life == commit.life ? $0.commits : nil }
        }
    }
#endif
