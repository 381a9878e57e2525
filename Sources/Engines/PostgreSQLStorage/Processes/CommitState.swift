#if PostgreSQL
    import Storage

    /// Where a store stands after a commit.
    package struct CommitState: Equatable, Sendable {
        package let position: Position
        /// How many commits there have been.
        package let commits: Int64

        package init(position: Position, commits: Int64) {
            self.position = position
            self.commits = commits
        }

        /// Stores with where they stand, as the payloads of notifications: `store:position:commits`, and a space
        /// between two.
        package static func payloads(of states: [Int64: CommitState]) -> [String] {
            var payloads: [String] = []
            var last = ""
            for (store, state) in states.sorted(by: { $0.key < $1.key }) {
                let word = "\(store):\(state.position):\(state.commits)"
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
                guard numbers.count == 3 else { continue }
                states[numbers[0]] = CommitState(position: numbers[1], commits: numbers[2])
            }
            return states
        }

        /// The server takes less than 8,000.
        private static let payloadBytesMax = 7_900
    }
#endif
