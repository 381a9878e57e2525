#if PostgreSQL
    /// Which of a store's commits this process has been told of, by their numbers: 1, 2 and so on over all processes.
    package struct CommitTally {
        /// Before the first look nobody knows of how many there were.
        private var told: Int64 = -1

        package init() {}

        /// Takes note of a commit of this process, of which its own waiters are told by themselves.
        ///
        /// - Returns: whether others have committed since, of whose commits nobody has been told yet.
        package mutating func committed(_ number: Int64) -> Bool {
            defer { told = max(told, number) }
            return number > told + 1
        }

        /// Takes note of how many commits there are.
        ///
        /// - Returns: whether there are some of which nobody has been told yet.
        package mutating func found(_ number: Int64) -> Bool {
            guard number > told else { return false }
            told = number
            return true
        }
    }
#endif
