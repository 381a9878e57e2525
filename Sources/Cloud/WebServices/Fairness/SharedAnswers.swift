import Storage
import Synchronization

/// What a commit's waiters are answered, kept for those who have asked the very same.
///
/// A person's devices wait for the same feed with the same token. One of them has the answer made, and the others get
/// its bytes. The `Question` must be the same, and no commit may lie between the looks. So nobody gets what was made
/// for somebody else, nor what was made before a change of rights.
final class SharedAnswers: Sendable {
    private struct Key: Hashable {
        let question: Question
        let mark: CommitNotices.Mark

        func hash(into hasher: inout Hasher) { hasher.combine(question) }
    }

    private struct Answer {
        let body: [UInt8]
        let madeAt: UInt64
    }

    private struct State {
        var answers: [Key: Answer] = [:]
        var bytes = 0
    }

    /// How long an answer is kept for others.
    ///
    /// They are all woken by one commit. What does not lie in the store, such as people's names, is no older than that.
    static let nanosecondsMax: UInt64 = 1_000_000_000
    /// Of all questions and answers that are kept; when there are more, all are let go.
    private static let bytesMax = 1_048_576
    private static let countMax = 256

    private let now: @Sendable () -> UInt64
    private let state = Mutex(State())
    private let sharedCount = Atomic<Int>(0)

    /// - Parameter now: a monotonic clock in nanoseconds.
    init(now: @escaping @Sendable () -> UInt64) { self.now = now }

    /// How many have got an answer that was made for another of their requests.
    var count: Int { sharedCount.load(ordering: .relaxed) }

    /// What the same question was answered after the same commit.
    ///
    /// - Parameter mark: from before the look that this answer would need.
    func answer(to question: Question, since mark: CommitNotices.Mark) -> [UInt8]? {
        let now = now()
        let found = state.withLock { $0.answers[Key(question: question, mark: mark)] }
        guard let found, now &- found.madeAt < Self.nanosecondsMax else { return nil }
        sharedCount.add(1, ordering: .relaxed)
        return found.body
    }

    /// - Parameter mark: from before the look that the answer was made by.
    func keep(_ body: [UInt8], for question: Question, since mark: CommitNotices.Mark) {
        let bytes = question.bytes + body.count
        guard bytes <= Self.bytesMax / 4 else { return }
        let answer = Answer(body: body, madeAt: now())
        state.withLock { state in
            if state.answers.count >= Self.countMax || state.bytes + bytes > Self.bytesMax {
                state = State()
            }
            let key = Key(question: question, mark: mark)
            guard state.answers.updateValue(answer, forKey: key) == nil else { return }
            state.bytes += bytes
        }
    }
}
