import Background
import CloudModel
import Storage
import Synchronization

/// Hands what waits in the outbox of one store to the senders, and notes the outcomes.
///
/// Each destination has its own queue and its own pauses, so that one that is slow or dead delays no other.
/// Attempts under way are not stored: after a crash they are made again. It holds no thread while it waits.
package final class OutboxRunner: Sendable {
    /// What a runner is given.
    package struct Options: Sendable {
        /// Of the kinds that are set up; what waits for others goes on waiting.
        package var senders: [DestinationKind: any NoticeSender]
        package var clock: Clock
        /// Whether a user may still see what a notice tells of; asked right before it is sent.
        package var mayTell:
            @Sendable (StoredNotice, UserRecordName, any StoreSnapshot) throws -> Bool
        /// Whether a destination has ended with its session; asked right before something is sent there.
        package var hasEnded: @Sendable (StoredDestination) throws -> Bool = { _ in false }
        /// Notices that are under way at a time, of all destinations of the store.
        package var atOnceMax = 1_024
        /// After so long a notice is given up.
        package var lifeMilliseconds: Milliseconds = 86_400_000
        /// Dead letters of one webhook.
        package var deadLettersMax = 10_000
        /// Called with the first failure of the store, and with no further one until all goes well.
        package var report: @Sendable (any Error) -> Void = { _ in }
        package var counts = DeliveryCounts()
        /// Told of what comes of each attempt; does not block.
        package var observe:
            @Sendable (ContainerID, Environment, DestinationKind, DeliveryOutcome) -> Void = {
                _, _, _, _ in
            }
        /// How long a destination is left alone that did not take a notice.
        package var backoff = Backoff(first: 5_000, longest: 3_600_000)

        package init(
            senders: [DestinationKind: any NoticeSender], clock: Clock,
            mayTell:
                @escaping @Sendable (StoredNotice, UserRecordName, any StoreSnapshot) throws
                -> Bool
        ) {
            self.senders = senders
            self.clock = clock
            self.mayTell = mayTell
        }
    }

    private struct State {
        private(set) var underWay: [DestinationNumber: Set<NoticeNumber>] = [:]
        var underWayCount: Int { underWay.values.reduce(0) { $0 + $1.count } }
        var told: [Told] = []

        /// - Throws: `BrokenInvariant`.
        mutating func begin(_ notice: StoredNotice, to destination: StoredDestination) throws {
            let isNew = underWay[destination.number, default: []].insert(notice.number).inserted
            guard isNew else {
                throw BrokenInvariant(
                    "one attempt at a time goes on for a notice, else the outcome of one ends both: "
                        + "notice \(notice.number.value)")
            }
        }

        mutating func end(_ told: Told) {
            let number = told.destination.number
            underWay[number]?.remove(told.notice.number)
            if underWay[number]?.isEmpty == true { underWay[number] = nil }
        }
    }

    /// What came of one notice.
    private struct Told: Sendable {
        let destination: StoredDestination
        let notice: StoredNotice
        let outcome: DeliveryOutcome
    }

    private static let askedSecondsMax = 86_400
    /// The runner looks again after this time at the latest.
    private static let lookMillisecondsMax: Milliseconds = 3_600_000
    /// After this it looks again whether another process still sends.
    private static let othersMilliseconds: Milliseconds = 5_000

    private weak let storage: (any Store)?
    private let notices: CommitNotices
    private let source: (container: ContainerID, environment: Environment)
    private let options: Options
    private let runner: Runner
    /// What wakes the runner, while it waits.
    private let watch = LatestWatch()
    private let state = Mutex(State())

    /// - Parameter storage: outlives the work, which `stop` ends.
    package init(
        _ storage: any Store, of container: ContainerID, in environment: Environment,
        _ options: Options
    ) {
        self.storage = storage
        notices = storage.notices
        source = (container, environment)
        self.options = options
        runner = Runner("store.outbox", report: options.report)
        runner.use { [weak self] in try self?.look() ?? .never }
    }

    package func wake() { runner.wake() }

    package var isBusy: Bool {
        runner.isBusy || !runner.isStopped && state.withLock { !$0.underWay.isEmpty }
    }

    /// Waits for a look that goes on; what comes of notices that are under way is not noted any more.
    package func stop() {
        runner.stop()
        watch.end()
    }

    // MARK: - In a look

    private func look() throws -> Runner.Next {
        watch.end()
        guard let storage else { return .never }
        let told = state.withLock { state in
            defer { state.told = [] }
            return state.told
        }
        if !told.isEmpty { try settle(told, in: storage) }
        let mark = notices.mark
        let found = try storage.read { try find($0) }
        if found.hasSome {
            guard let lease = try storage.hold(.outbox),
                try remove(found.lost, found.ended, by: lease, in: storage)
            else { return .later(milliseconds: Self.othersMilliseconds) }
            for (destination, notice) in found.ready { try send(notice, to: destination) }
        }
        watch.begin(notices.watch([.senders], since: mark)) { [runner] in runner.wake() }
        guard let next = found.next else { return .whenWoken }
        let pause = min(max(1, next - options.clock.now()), Self.lookMillisecondsMax)
        return .later(milliseconds: pause)
    }

    /// Removes what is not sent; false when another process sends by now.
    private func remove(
        _ lost: [NoticeNumber], _ ended: [DestinationNumber], by lease: StoreLease,
        in storage: any Store
    ) throws -> Bool {
        guard !lost.isEmpty || !ended.isEmpty else { return true }
        do {
            try storage.writeAndWait(caller: .background) { transaction in
                try lease.check(in: transaction)
                try transaction.removeNotices(lost)
                for number in ended { try transaction.removeDestination(number) }
            }
            return true
        } catch is StoreLease.Lost { return false }
    }

    /// Writes what came of notices, unless another process sends by now: then that one sends them once more.
    private func settle(_ told: [Told], in storage: any Store) throws {
        do {
            if let lease = try storage.hold(.outbox) { try note(told, by: lease, in: storage) }
        } catch is StoreLease.Lost {
        } catch {
            state.withLock { $0.told = told + $0.told }
            throw error
        }
        end(told)
    }

    private struct Due {
        var hasSome: Bool { !ready.isEmpty || !lost.isEmpty || !ended.isEmpty }
        var ready: [(StoredDestination, StoredNotice)] = []
        var lost: [NoticeNumber] = []
        var ended: [DestinationNumber] = []
        /// When there is something to do next, beside what is woken for; nil for never.
        var next: Milliseconds?
    }

    private func find(_ snapshot: any StoreSnapshot) throws -> Due {
        var found = Due()
        let now = options.clock.now()
        let (underWay, count) = state.withLock { ($0.underWay, $0.underWayCount) }
        var room = options.atOnceMax - count
        for destination in try snapshot.destinationsDue(
            Set(options.senders.keys), by: now, limit: options.atOnceMax + underWay.count)
        {
            guard room > 0 else { break }
            guard let sender = options.senders[destination.kind] else { continue }
            guard try !options.hasEnded(destination) else {
                found.ended.append(destination.number)
                continue
            }
            let busy = underWay[destination.number] ?? []
            // After a failure one notice finds out whether the others may follow.
            let most = destination.failures > 0 ? 1 : sender.noticesAtOncePerDestinationMax
            guard busy.count < most else { continue }
            for notice in try snapshot.notices(
                for: destination.number, after: NoticeNumber(0), limit: most + busy.count)
            where !busy.contains(notice.number) && room > 0 {
                if let user = destination.user, try !options.mayTell(notice, user, snapshot) {
                    found.lost.append(notice.number)
                    continue
                }
                found.ready.append((destination, notice))
                room -= 1
            }
        }
        // Destinations that are due, and under way or without a sender, do not hide later ones.
        found.next = try snapshot.nextDestinationMoment(after: now)
        return found
    }

    private func send(_ notice: StoredNotice, to destination: StoredDestination) throws {
        guard let sender = options.senders[destination.kind] else { return }
        try state.withLock { try $0.begin(notice, to: destination) }
        let outgoing = OutgoingNotice(
            container: source.container, environment: source.environment, destination: destination,
            notice: notice, now: options.clock.now())
        let once = Atomic(false)
        sender.send(outgoing) { [weak self] outcome in
            // A second outcome for the same notice is ignored.
            guard !once.exchange(true, ordering: .relaxed) else { return }
            self?.take(Told(destination: destination, notice: notice, outcome: outcome))
        }
    }

    private func take(_ told: Told) {
        options.counts.note(told.outcome)
        options.observe(
            source.container, source.environment, told.destination.kind, told.outcome)
        state.withLock { $0.told.append(told) }
        wake()
    }

    /// Writes what came of notices, and lets their destinations go on.
    private func note(_ told: [Told], by lease: StoreLease, in storage: any Store) throws {
        let (options, now) = (options, options.clock.now())
        try storage.writeAndWait(cost: told.count, caller: .background) { transaction in
            try lease.check(in: transaction)
            for one in told { try Self.note(one, options, now, in: transaction) }
        }
    }

    /// Has these no longer count as under way.
    private func end(_ told: [Told]) {
        state.withLock { state in
            for one in told { state.end(one) }
        }
    }

    private static func note(
        _ told: Told, _ options: Options, _ now: Milliseconds,
        in transaction: any StoreTransaction
    ) throws {
        let (destination, notice) = (told.destination, told.notice)
        let isWebhook = destination.kind == .webhook
        func giveUp(_ reason: String) throws {
            if isWebhook {
                try transaction.giveUp(
                    notice.number, reason: reason, keptMax: options.deadLettersMax)
            } else {
                try transaction.removeNotices([notice.number])
            }
        }
        switch told.outcome {
        case .delivered: try transaction.removeNotices([notice.number])
        case .refused(let reason): try giveUp(reason)
        case .gone where !isWebhook: return try transaction.removeDestination(destination.number)
        case .gone(let reason): try giveUp(reason)
        case .later(let reason, let seconds):
            if now - notice.madeAt >= options.lifeMilliseconds { try giveUp(reason) }
            let asked = Milliseconds(min(max(seconds ?? 0, 0), askedSecondsMax)) * 1_000
            let own = options.backoff.milliseconds(after: destination.failures + 1)
            return try transaction.noteAttempt(
                at: destination.number, isFailure: true, next: now + max(own, asked))
        }
        try transaction.noteAttempt(at: destination.number, isFailure: false, next: now)
    }
}

/// What senders have come to since the start, of all stores.
package final class DeliveryCounts: Sendable {
    private let sentCount = Atomic<Int>(0)
    private let failedCount = Atomic<Int>(0)

    package init() {}

    /// Notices that their destinations have taken.
    package var sent: Int { sentCount.load(ordering: .relaxed) }
    /// Attempts that failed.
    package var failed: Int { failedCount.load(ordering: .relaxed) }

    func note(_ outcome: DeliveryOutcome) {
        if case .delivered = outcome {
            sentCount.add(1, ordering: .relaxed)
        } else {
            failedCount.add(1, ordering: .relaxed)
        }
    }
}
