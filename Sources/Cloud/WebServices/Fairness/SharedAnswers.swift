import CloudDatabase
import CloudModel
import Storage
import Synchronization

/// What a commit's waiters are answered, kept for those who have asked the very same.
///
/// A person's devices wait for the same feed with the same token. One of them has the answer made, and the others get
/// its bytes. A question is the same only if all is the same that an answer may depend on: who asks by which
/// credential, from which device, for what, and which commits the look could see. So nobody gets what was made for
/// somebody else, nor what was made before a change of rights.
final class SharedAnswers: Sendable {
    /// What an answer to one who has waited depends on.
    struct Question: Hashable {
        private let store: ObjectIdentifier
        private let mark: CommitNotices.Mark
        private let caller: Caller
        /// The credential and the user, as links to assets have them.
        private let origin: AssetOrigin
        private let operation: String
        private let database: DatabaseScope?
        private let device: String?
        private let body: [UInt8]

        /// - Parameter mark: from before the look.
        init(_ context: RequestContext, since mark: CommitNotices.Mark) {
            store = ObjectIdentifier(context.store.storage.notices)
            self.mark = mark
            caller = context.caller
            origin = AssetOrigin(context.identified)
            operation = context.address.operation
            database = context.address.database
            device = context.namedDevice
            body = context.request.body
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(caller.userRecordName)
            hasher.combine(body)
        }
    }

    private struct Answer {
        let body: [UInt8]
        let madeAt: UInt64
        /// Held, so that no other store's notices get the same identifier.
        let notices: CommitNotices
    }

    private struct State {
        var answers: [Question: Answer] = [:]
        var bytes = 0
    }

    /// How long an answer is kept for others.
    ///
    /// They are all woken by one commit. What does not lie in the store, such as people's names, is no older than that.
    private static let nanosecondsMax: UInt64 = 1_000_000_000
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
    func answer(to question: Question) -> [UInt8]? {
        let now = now()
        let found = state.withLock { $0.answers[question] }
        guard let found, now &- found.madeAt < Self.nanosecondsMax else { return nil }
        sharedCount.add(1, ordering: .relaxed)
        return found.body
    }

    func keep(_ body: [UInt8], for question: Question, of notices: CommitNotices) {
        let bytes = question.bytes + body.count
        guard bytes <= Self.bytesMax / 4 else { return }
        let answer = Answer(body: body, madeAt: now(), notices: notices)
        state.withLock { state in
            if state.answers.count >= Self.countMax || state.bytes + bytes > Self.bytesMax {
                state = State()
            }
            guard state.answers.updateValue(answer, forKey: question) == nil else { return }
            state.bytes += bytes
        }
    }
}

extension SharedAnswers.Question {
    fileprivate var bytes: Int { body.count + (device?.utf8.count ?? 0) }
}
