#if PostgreSQL
    import Storage

    /// Where a store stands after a commit.
    package struct CommitState: Equatable, Sendable {
        package let position: Position
        /// How many commits there have been; it grows within a life.
        package let commits: Int64
        /// The incarnation of the store's life.
        package let life: Int64
        package let queues: Queues

        package init(position: Position, commits: Int64, life: Int64, queues: Queues) {
            self.position = position
            self.commits = commits
            self.life = life
            self.queues = queues
        }

        /// Numbers that move only with what a process does for itself, so that not every commit has all processes look.
        package struct Queues: Equatable, Sendable {
            /// The number of the work that is queued next.
            let work: Int64
            /// The number of the notice that is queued next.
            let notice: Int64
            /// Moves as followers of the store begin and end.
            let followers: Int64

            package init(work: Int64, notice: Int64, followers: Int64) {
                self.work = work
                self.notice = notice
                self.followers = followers
            }

            /// The parts in which nothing can have changed since; none where nobody knows how it was.
            func unmoved(since before: Queues?) -> Set<StorePart> {
                guard let before else { return [] }
                var parts: Set<StorePart> = []
                if work == before.work { parts.insert(.work) }
                if notice == before.notice { parts.insert(.senders) }
                if followers == before.followers { parts.insert(.followers) }
                return parts
            }
        }

        /// Stores with where they stand, as the payloads of notifications: `store:position:commits:life:work:notice:followers`,
        /// and a space between two.
        package static func payloads(of states: [Int64: CommitState]) -> [String] {
            var payloads: [String] = []
            var last = ""
            for (store, state) in states.sorted(by: { $0.key < $1.key }) {
                let queues = state.queues
                let numbers = [
                    store, state.position, state.commits, state.life, queues.work, queues.notice,
                    queues.followers,
                ]
                let word = numbers.map { "\($0)" }.joined(separator: ":")
                if last.utf8.count + 1 + word.utf8.count > payloadBytesMax {
                    payloads.append(last)
                    last = ""
                }
                last += last.isEmpty ? word : " \(word)"
            }
            return last.isEmpty ? payloads : payloads + [last]
        }

        /// What a payload says; words that are none are passed over.
        package static func states(in payload: String) -> [Int64: CommitState] {
            var states: [Int64: CommitState] = [:]
            for word in payload.split(separator: " ") {
                let numbers = word.split(separator: ":").compactMap { Int64($0) }
                guard numbers.count == 7 else { continue }
                states[numbers[0]] = CommitState(
                    position: numbers[1], commits: numbers[2], life: numbers[3],
                    queues: Queues(work: numbers[4], notice: numbers[5], followers: numbers[6]))
            }
            return states
        }

        /// The server takes less than 8,000.
        private static let payloadBytesMax = 7_900
    }
#endif
