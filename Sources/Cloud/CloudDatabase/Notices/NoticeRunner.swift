import Background
import CloudModel
import Dispatch
import Storage
import Synchronization

/// Follows the changes of one store, and puts notices of them into the outbox.
///
/// While nobody follows the store, it only waits for a follower. It holds no thread while it waits. It goes
/// on where the last runner ended, whatever ended that one (rulings.md 58).
package final class NoticeRunner: Sendable {
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

    /// After this it looks again whether another process still does it.
    private static let lookMilliseconds: Milliseconds = 5_000

    private weak let storage: (any Store)?
    private let notices: CommitNotices
    private let options: Options
    private let writing: NoticeWriting
    private let runner: Runner
    /// What wakes the runner, while it waits.
    private let watch = LatestWatch()
    // Only used by the runner's looks.
    private nonisolated(unsafe) let matching: NoticeMatching

    /// - Parameter storage: must outlive the work, which `stop` ends.
    package init(_ storage: any Store, at source: NoticeSource, _ options: Options) {
        self.storage = storage
        notices = storage.notices
        self.options = options
        writing = NoticeWriting(waitingMax: options.limits.noticesWaitingMax)
        matching = NoticeMatching(at: source, limits: options.limits, decode: options.decode)
        runner = Runner("store.notices.match", qos: .userInitiated, report: options.report)
        runner.use { [weak self] in try self?.look() ?? .never }
    }

    package func wake() { runner.wake() }

    package var isBusy: Bool { runner.isBusy }

    /// Stops, after it has waited for the page that it is at.
    package func stop() {
        runner.stop()
        watch.end()
    }

    /// Deals with all changes so far, page by page.
    private func look() throws -> Runner.Next {
        watch.end()
        let start = DispatchTime.now().uptimeNanoseconds
        while !runner.isStopped, let storage {
            guard let lease = try storage.hold(.notices) else {
                return .later(milliseconds: Self.lookMilliseconds)
            }
            let mark: CommitNotices.Mark
            do {
                guard let end = try takePage(of: storage, by: lease) else { continue }
                mark = end
            } catch is StoreLease.Lost { continue }
            options.counts.note(lag: DispatchTime.now().uptimeNanoseconds &- start)
            let isFollowing = try storage.read { try $0.position(of: .notices) } != nil
            let parts: Set<StorePart> =
                isFollowing ? [.anything, .followers] : [.followers]
            watch.begin(notices.watch(parts, since: mark)) { [runner] in runner.wake() }
            return .whenWoken
        }
        return .never
    }

    private func takePage(
        of storage: any Store, by lease: StoreLease
    ) throws -> CommitNotices.Mark? {
        let writing = writing
        let handover = NoticeHandover(
            waitMilliseconds: options.limits.handoverMilliseconds, hasEnded: options.hasEnded)
        var queued = 0
        let mark = try ChangeFollower(storage, as: .notices, by: lease).takePage(
            reading: { page in try matching.match(page, of: storage) },
            preparing: { made in
                queued = made.noticeCount + made.bodies.count * made.webhooks.count
                return try handover.hand(made, of: storage).pieces
            },
            writing: { piece, transaction in try writing.write(piece, in: transaction) })
        options.counts.noteQueued(queued)
        return mark
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
