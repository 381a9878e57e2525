import CloudModel
import Dispatch
import Fairness
import Storage
import Synchronization

/// Makes the next page of a feed while whoever follows it takes in this one.
///
/// A page is made on a worker that has nothing else to do. It is good for the very question that was foreseen, by
/// the same caller with the same credential and device, and only until the next commit of the store. Whoever asks
/// has been identified and admitted before, like everybody.
final class PagesAhead: Sendable {
    /// What makes the pages of a feed.
    struct Maker: Sendable {
        let answer: @Sendable (RequestContext) throws -> FeedAnswer
        /// Has a request begin anew that waited for a page which could not be made ahead; called on a worker.
        let resume: @Sendable (Exchange) -> Void
    }

    private let workers: Workers
    private let now: @Sendable () -> UInt64
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "web.ahead")
    private let isOn: Bool
    /// As of the last time that the followers were looked at.
    private let hasFollowers = Atomic<Bool>(false)

    private struct State {
        var followers: FeedFollowers
        /// Somebody looks soon at what nobody has asked for.
        var isWatching = false
    }

    /// - Parameter now: a monotonic clock in nanoseconds.
    init(
        _ limits: FeedFollowers.Limits, workers: Workers, now: @escaping @Sendable () -> UInt64
    ) {
        isOn = limits.bytesMax > 0 && limits.countMax > 0
        self.workers = workers
        self.now = now
        state = Mutex(State(followers: FeedFollowers(limits)))
    }

    /// What became of pages, for metrics.
    var counts: PagesAheadCounts { state.withLock { $0.followers.counts } }

    /// Answers a request with what was made ahead, or with what an endpoint makes now.
    ///
    /// The page behind it is begun before the answer is sent.
    ///
    /// - Parameter mark: from before the look.
    func answer(
        _ request: RequestContext, since mark: CommitNotices.Mark, by maker: Maker
    ) throws {
        guard isOn else { return request.exchange.succeed(try maker.answer(request).body) }
        // Most ask for what is new and get all of it: they follow nothing.
        let known = hasFollowers.load(ordering: .relaxed) ? take(request, since: mark) : .nothing
        let answer: FeedAnswer
        switch known {
        case .soon: return
        case .page(let page): answer = page
        case .nothing: answer = try maker.answer(request)
        }
        if let order = order(after: answer, request) { begin(order, for: request, by: maker) }
        request.exchange.succeed(answer.body)
    }

    private func take(
        _ request: RequestContext, since mark: CommitNotices.Mark
    )
        -> FeedFollowers.Found
    {
        let question = Question(request)
        return state.withLock { $0.followers.take(question, since: mark, request, now: now()) }
    }

    private func order(after answer: FeedAnswer, _ request: RequestContext) -> FeedFollowers.Order?
    {
        let next = answer.nextRequest(after: request.request.body)
        guard next != nil || hasFollowers.load(ordering: .relaxed) else { return nil }
        let question = Question(request)
        let (order, watches) = state.withLock { state in
            let order = state.followers.note(
                answer, to: question, next: next, of: request.exchange.principal, now: now())
            hasFollowers.store(!state.followers.isEmpty, ordering: .relaxed)
            let watches = !state.isWatching && !state.followers.isEmpty
            if watches { state.isWatching = true }
            return (order, watches)
        }
        if watches { watch() }
        return order
    }

    private func begin(
        _ order: FeedFollowers.Order, for request: RequestContext, by maker: Maker
    ) {
        let stop = StopSignal()
        let isTaken = workers.submitSpare(
            .short, for: request.exchange.principal, stop: stop,
            drop: { [weak self] in self?.cancel(order) }
        ) { self.make(order, for: request, by: maker, stop) }
        if !isTaken { cancel(order) }
    }

    private func cancel(_ order: FeedFollowers.Order) {
        state.withLock { $0.followers.cancel(order) }
    }

    /// Makes a page, and the page behind it if this one has been asked for meanwhile, and so on; on a worker.
    private func make(
        _ first: FeedFollowers.Order, for request: RequestContext, by maker: Maker,
        _ stop: StopSignal
    ) {
        var (order, request) = (first, request)
        while true {
            let mark = request.store.storage.notices.mark
            let isWanted = state.withLock {
                $0.followers.begin(order, since: mark, stop)
            }
            guard isWanted else { return }
            // NB: whoever asks for the page has it made anew, and is told what is wrong.
            let made = try? maker.answer(request.foreseen(asking: order.body, stop: stop))
            let answer = made?.hasFault == false ? made : nil
            guard let asked = state.withLock({ $0.followers.end(order, answer, now: now()) })
            else { return }
            guard let answer else { return maker.resume(asked.exchange) }
            let next = self.order(after: answer, asked)
            asked.exchange.succeed(answer.body)
            guard let next else { return }
            guard !stop.isStopped else { return cancel(next) }
            (order, request) = (next, asked)
        }
    }

    private func watch() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(SharedAnswers.nanosecondsMax))) {
            [weak self] in self?.forget()
        }
    }

    /// Lets go of what nobody has asked for, also when nobody asks for anything any more.
    private func forget() {
        let goesOn = state.withLock { state in
            state.followers.forget(now: now())
            state.isWatching = !state.followers.isEmpty
            hasFollowers.store(state.isWatching, ordering: .relaxed)
            return state.isWatching
        }
        if goesOn { watch() }
    }
}
