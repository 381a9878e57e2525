import CloudModel
import Dispatch
import Storage
import Synchronization

/// Follows the changes of one store, and puts notices of them into the outbox.
///
/// While nobody follows the store, it only waits for a follower. It holds no thread while it waits. It goes
/// on where the last runner ended, whatever ended that one (rulings.md 58).
package final class NoticeRunner: StoreWorker {
    /// What a runner is given.
    package struct Options: Sendable {
        package var limits = ServiceLimits()
        /// Reads the query of a stored subscription; nil when it cannot be read.
        package var decode: @Sendable (Subscription, SubscriptionOwner) -> RecordQuery?
        /// Called with the first failure, and not again until all goes well.
        package var report: @Sendable (any Error) -> Void = { _ in }
        package var counts = NoticeCounts()
        /// Whether a destination has ended with its session; asked right before it is handed something.
        package var hasEnded: @Sendable (StoredDestination) throws -> Bool = { _ in false }

        package init(
            decode: @escaping @Sendable (Subscription, SubscriptionOwner) -> RecordQuery?
        ) { self.decode = decode }
    }

    private struct State {
        var watch: CommitWatch?
        var isLooking = false
        var isStopped = false
        var failures = 0
    }

    private static let retryMillisecondsMax = 60_000

    private weak let storage: (any Store)?
    private let notices: CommitNotices
    private let options: Options
    private let writing: NoticeWriting
    private let queue = DispatchQueue(label: "store.notices.match", qos: .userInitiated)
    private let state = Mutex(State())
    // Only used on the queue.
    private nonisolated(unsafe) let matching: NoticeMatching

    /// - Parameter storage: must outlive the work, which `stop` ends.
    package init(_ storage: any Store, at place: NoticePlace, _ options: Options) {
        self.storage = storage
        notices = storage.notices
        self.options = options
        writing = NoticeWriting(waitingMax: options.limits.noticesWaitingMax)
        matching = NoticeMatching(at: place, limits: options.limits, decode: options.decode)
    }

    package func wake() {
        let begins = state.withLock { state in
            guard !state.isStopped, !state.isLooking else { return false }
            state.isLooking = true
            state.watch?.end()
            state.watch = nil
            return true
        }
        if begins { queue.async { [weak self] in self?.look() } }
    }

    package var isBusy: Bool { state.withLock { $0.isLooking && !$0.isStopped } }

    /// Stops, after it has waited for the page that it is at.
    package func stop() {
        let watch = state.withLock { state in
            state.isStopped = true
            defer { state.watch = nil }
            return state.watch
        }
        watch?.end()
        queue.sync {}
    }

    /// Deals with all changes so far, page by page; runs on the queue.
    private func look() {
        let start = DispatchTime.now().uptimeNanoseconds
        while !state.withLock({ $0.isStopped }) {
            guard let storage else { return }
            do {
                let mark = try takePage(of: storage)
                state.withLock { $0.failures = 0 }
                guard let mark else { continue }
                options.counts.note(lag: DispatchTime.now().uptimeNanoseconds &- start)
                let isFollowing = try storage.read { try $0.position(of: .notices) } != nil
                return wait(for: isFollowing ? [.anything, .followers] : [.followers], since: mark)
            } catch {
                return tryLater(error)
            }
        }
    }

    private func takePage(of storage: any Store) throws -> CommitNotices.Mark? {
        let writing = writing
        let handover = NoticeHandover(
            waitMilliseconds: options.limits.handoverMilliseconds, hasEnded: options.hasEnded)
        var queued = 0
        let mark = try ChangeFollower(storage, as: .notices).takePage(
            reading: { page in try matching.match(page, of: storage) },
            preparing: { made in
                queued = made.noticeCount + made.bodies.count * made.webhooks.count
                return try handover.hand(made, of: storage).pieces
            },
            writing: { piece, transaction in try writing.write(piece, in: transaction) })
        options.counts.noteQueued(queued)
        return mark
    }

    private func wait(for places: Set<StorePlace>, since mark: CommitNotices.Mark) {
        let watch = notices.watch(places, since: mark)
        let isStopped = state.withLock { state in
            state.isLooking = false
            if !state.isStopped { state.watch = watch }
            return state.isStopped
        }
        guard !isStopped else { return watch.end() }
        watch.whenMoved { [weak self] _ in self?.wake() }
    }

    private func tryLater(_ error: any Error) {
        let failures = state.withLock { state in
            state.failures += 1
            return state.failures
        }
        if failures == 1 { options.report(error) }
        let pause = min(Self.retryMillisecondsMax, 250 << min(failures, 8))
        queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [weak self] in self?.look() }
    }
}

/// Counts notices, over all stores.
package final class NoticeCounts: Sendable {
    private let queuedCount = Atomic<Int>(0)
    private let lagNanoseconds = Atomic<UInt64>(0)

    package init() {}

    /// The longest time from a commit's wake-up until all was in the outbox, since this was last called.
    package func takeLagSeconds() -> Double {
        Double(lagNanoseconds.exchange(0, ordering: .relaxed)) / 1e9
    }

    func note(lag nanoseconds: UInt64) {
        _ = lagNanoseconds.max(nanoseconds, ordering: .relaxed)
    }

    /// How many notices were put into outboxes.
    package var queued: Int { queuedCount.load(ordering: .relaxed) }

    func noteQueued(_ count: Int) { queuedCount.add(count, ordering: .relaxed) }
}
