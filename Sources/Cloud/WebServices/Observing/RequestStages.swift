/// Where the time of a request went, in nanoseconds; the stages follow one another.
package struct RequestStages: Sendable, Equatable {
    package enum Stage: Sendable {
        /// Until its endpoint began: who sends it, whose turn it is, and until there was something to tell.
        case waiting
        /// A read, from the first look into the store to the whole answer.
        case reading
        /// A write, until the writer has it: it is decoded and checked.
        case deciding
        /// A write, until it is on disk: with others', as the writer groups them.
        case committing
    }

    package var waiting: UInt64 = 0
    package var reading: UInt64 = 0
    package var deciding: UInt64 = 0
    package var committing: UInt64 = 0
    /// From the whole answer, or the commit, until the connection has taken the answer.
    package var sending: UInt64 = 0
    /// When the last stage ended.
    private var mark: UInt64

    package init(start: UInt64 = 0) { mark = start }

    mutating func end(_ stage: Stage, at now: UInt64) {
        let spent = now &- min(mark, now)
        mark = now
        switch stage {
        case .waiting: waiting &+= spent
        case .reading: reading &+= spent
        case .deciding: deciding &+= spent
        case .committing: committing &+= spent
        }
    }

    mutating func endSending(at now: UInt64) { sending = now &- min(mark, now) }
}
