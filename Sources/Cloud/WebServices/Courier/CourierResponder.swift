import Accounts
import CloudDatabase
import CloudModel
import Fairness
import HTTP
import Storage
import Synchronization

/// Hands notices to devices that wait for them: one for each poll, or all that wait as events
/// (web-services.md §4.16, rulings.md 41 and 58).
final class CourierResponder: Sendable {
    /// How many milliseconds pass at least before the use of a destination is noted again.
    private static let useNotedMilliseconds: Milliseconds = 3_600_000
    /// Events in one answer at most.
    private static let eventsMax = 100

    private let dependencies: ProtocolResponder.Dependencies
    private let held: HeldAnswers
    private let workers: Workers
    private let claims = CourierClaims()

    init(
        _ dependencies: ProtocolResponder.Dependencies, held: HeldAnswers, workers: Workers
    ) {
        self.dependencies = dependencies
        self.held = held
        self.workers = workers
    }

    var counts: CourierCounts { claims.counts }

    /// One poll that is being answered.
    private struct Poll: Sendable {
        let exchange: Exchange
        let address: CourierAddress
        let form: CourierForm
        /// The poll's place among its user's, until it is answered.
        let slot: PollSlot
    }

    func respond(_ exchange: Exchange) {
        guard exchange.request.method != .options else {
            return exchange.sendPreflight(methods: AllowedMethods.courier.text)
        }
        // Only the token in the URL identifies the caller: cookies and origins do not matter.
        exchange.allowedOrigin = exchange.request.headers["origin"]
        exchange.operation = "courier"
        guard let address = CourierAddress(exchange.query) else {
            return exchange.fail(ProtocolResponder.noEndpoint)
        }
        exchange.address = RequestAddress(address)
        guard AllowedMethods.courier.contains(exchange.request.method) else {
            return exchange.refuseMethod(.courier)
        }
        // This comes first, so that no store is opened for a refused request.
        guard
            dependencies.authenticator.courierTokens.isOurs(
                address.token, in: address.container, address.environment)
        else { return exchange.fail(Self.ended) }
        let poll = Poll(
            exchange: exchange, address: address, form: CourierForm(exchange.request),
            slot: PollSlot(claims))
        answer(poll, on: exchange.request.loop)
    }

    /// - Parameter loop: the event loop whose thread this is; nil on a worker.
    private func answer(_ poll: Poll, on loop: Int?) {
        let address = poll.address
        guard let store = dependencies.stores.known(address.container, address.environment) else {
            return open(poll)
        }
        guard loop == nil || store.storage.readsAtOnce else { return goOn(poll) }
        do {
            try answer(poll, from: store.storage, on: loop)
        } catch {
            poll.exchange.fail(error)
        }
    }

    private func goOn(_ poll: Poll) {
        do {
            try workers.submit(
                .short, for: poll.exchange.principal, isAdmitted: true, stop: poll.exchange.stop
            ) { self.answer(poll, on: nil) }
        } catch {
            poll.exchange.fail(error)
        }
    }

    private func open(_ poll: Poll) {
        poll.exchange.stopWhenAbandoned()
        dependencies.stores.open(poll.address.container, poll.address.environment) { result in
            switch result {
            case .success: self.goOn(poll)
            case .failure(CatalogRefusal.containerUnknown): poll.exchange.fail(Self.ended)
            case .failure(let error): poll.exchange.fail(error)
            }
        }
    }

    /// The answer for a token that does not exist, or no longer.
    private static let ended = Fault(
        .authenticationFailed, "the token has ended; get another by tokens/create")

    private struct Found {
        let destination: StoredDestination
        let notices: [StoredNotice]
        /// Notices of things that their user may no longer see.
        let lost: [NoticeNumber]
    }

    private func answer(_ poll: Poll, from storage: any Store, on loop: Int?) throws {
        let now = dependencies.clock.now()
        let mark = storage.notices.mark
        let found = try storage.read(by: StoreReader(loop: loop)) {
            try find(poll, $0, storage.notices)
        }
        guard let found, let user = found.destination.user else { throw Self.ended }
        var isUsed = false
        // If something fails, others must get what this poll has claimed.
        defer {
            if !isUsed { claims.giveBack(found.notices.map(\.number), of: storage.notices) }
        }
        guard try isAlive(found.destination, now: now) else {
            let number = found.destination.number
            // NB: what this does not remove, the upkeep removes later.
            storage.write(cost: 1, frees: true) {
                try $0.removeDestination(number)
            } completion: { _ in
            }
            throw Self.ended
        }
        poll.exchange.caller = Caller(kind: .user, userRecordName: user)
        noteUse(of: found.destination, in: storage, now: now)
        if !found.lost.isEmpty {
            let lost = found.lost
            storage.write(cost: 1, frees: true) {
                try $0.removeNotices(lost)
            } completion: { _ in
            }
        }
        acknowledge(poll, found.destination, in: storage)
        guard !found.notices.isEmpty else {
            guard poll.slot.begin(for: user, max: dependencies.limits.heldPollsPerUserMax) else {
                var fault = Fault(
                    .throttled,
                    "too many polls wait for you (http.heldPollsPerUserMax)")
                fault.retryAfterSeconds = 1
                throw fault
            }
            return hold(poll, found.destination.number, storage.notices, since: mark)
        }
        guard try isWaiting(found, poll, storage, on: loop) else {
            return try answer(poll, from: storage, on: loop)
        }
        isUsed = true
        send(found.notices, to: poll, found.destination.number, from: storage)
    }

    /// Whether claimed notices are still there.
    ///
    /// Since the look began, another poll may have delivered one, removed it, and given up its claim.
    private func isWaiting(
        _ found: Found, _ poll: Poll, _ storage: any Store, on loop: Int?
    ) throws -> Bool {
        guard !poll.form.isStream, let number = found.notices.first?.number else { return true }
        return try storage.read(by: StoreReader(loop: loop)) {
            try $0.notices(
                for: found.destination.number, after: NoticeNumber(number.value - 1), limit: 1
            ).first?.number == number
        }
    }

    private func find(
        _ poll: Poll, _ snapshot: any StoreSnapshot, _ commits: CommitNotices
    ) throws -> Found? {
        guard let destination = try snapshot.destination(.courier, key: poll.address.key),
            let user = destination.user
        else { return nil }
        var found: [StoredNotice] = []
        var lost: [NoticeNumber] = []
        var after = poll.form.seen
        let most = poll.form.isStream ? Self.eventsMax : 1
        // Other polls keep what they have claimed; this one takes the next.
        while found.count < most {
            let page = try snapshot.notices(
                for: destination.number, after: after, limit: poll.form.isStream ? most : 8)
            for notice in page where found.count < most {
                after = notice.number
                guard poll.form.isStream || !claims.isTaken(notice.number, of: commits) else {
                    continue
                }
                guard try NoticeRights.allow(notice, to: user, snapshot) else {
                    lost.append(notice.number)
                    continue
                }
                // An event stays until it is acknowledged.
                guard poll.form.isStream || claims.take(notice.number, of: commits) else {
                    continue
                }
                found.append(notice)
            }
            if page.isEmpty { break }
        }
        return Found(destination: destination, notices: found, lost: lost)
    }

    /// A courier ends with its session, and when nobody has used it for long.
    private func isAlive(_ destination: StoredDestination, now: Milliseconds) throws -> Bool {
        let idleMax = Milliseconds(dependencies.limits.courierIdleDays) * 86_400_000
        guard now - destination.usedAt < idleMax else { return false }
        guard let session = destination.session else { return true }
        return try dependencies.catalog.sessionEnd(session).map { $0 > now } ?? false
    }

    private func noteUse(
        of destination: StoredDestination, in storage: any Store, now: Milliseconds
    ) {
        guard now - destination.usedAt >= Self.useNotedMilliseconds else { return }
        let number = destination.number
        // NB: if this is not noted now, one of the next polls notes it.
        storage.write(cost: 1, frees: false) {
            try $0.use(number)
        } completion: { _ in
        }
    }

    /// Removes the events that the client says it has received.
    private func acknowledge(
        _ poll: Poll, _ destination: StoredDestination, in storage: any Store
    ) {
        guard poll.form.isStream, poll.form.seen.value > 0, poll.slot.acknowledges() else { return }
        let (number, seen) = (destination.number, poll.form.seen)
        // NB: an event that stays is sent again, with the same identifier.
        storage.write(cost: 1, frees: true) {
            try $0.removeNotices(for: number, through: seen)
        } completion: { _ in
        }
    }

    private func hold(
        _ poll: Poll, _ number: DestinationNumber, _ notices: CommitNotices,
        since mark: CommitNotices.Mark
    ) {
        poll.exchange.stopWhenAbandoned()
        poll.exchange.contentType = poll.form.contentType
        held.hold(
            poll.exchange,
            HeldAnswer(
                places: [.destination(number)], outcome: .success(poll.form.nothing),
                millisecondsMax: dependencies.limits.courierPollSeconds * 1_000), notices,
            since: mark
        ) { _ in self.goOn(poll) }
    }

    private func send(
        _ found: [StoredNotice], to poll: Poll, _ destination: DestinationNumber,
        from storage: any Store
    ) {
        let (claims, numbers) = (claims, found.map(\.number))
        poll.exchange.contentType = poll.form.contentType
        if poll.form.isStream {
            poll.exchange.whenSent = { claims.note(sent: $0 ? numbers.count : 0, cut: 0) }
        } else {
            poll.exchange.whenSent = { isSent in
                claims.note(sent: isSent ? 1 : 0, cut: isSent ? 0 : 1)
                // What was sent must not be sent again. What was not sent goes to the next who asks.
                storage.write(cost: 1, frees: true) { transaction in
                    if isSent {
                        try transaction.removeNotices(numbers)
                    } else {
                        transaction.wakeWaiting(for: destination)
                    }
                } completion: { _ in
                    claims.giveBack(numbers, of: storage.notices)
                }
            }
        }
        poll.exchange.succeed(poll.form.body(of: found))
    }
}

/// How a client receives its notices.
struct CourierForm: Sendable {
    /// Whether it takes all that wait, as Server-Sent Events.
    let isStream: Bool
    /// The last notice that the client has received.
    let seen: NoticeNumber

    init(_ request: HTTPRequest) {
        isStream = request.headers["accept"]?.contains("text/event-stream") ?? false
        let last = isStream ? request.headers["last-event-id"].flatMap { Int64($0) } : nil
        seen = NoticeNumber(max(0, last ?? 0))
    }

    var contentType: String { isStream ? "text/event-stream" : Exchange.json }

    /// The body that ends a wait without a notice; clients then ask again.
    var nothing: [UInt8] { isStream ? Array(":\n\n".utf8) : [] }

    func body(of notices: [StoredNotice]) -> [UInt8] {
        guard isStream else { return notices.first?.payload ?? [] }
        var body: [UInt8] = []
        // Makes browsers ask again at once.
        body += Array("retry: 10\n".utf8)
        for notice in notices {
            body += Array("id: \(notice.number.value)\ndata: ".utf8)
            body += notice.payload
            body += Array("\n\n".utf8)
        }
        return body
    }
}

/// The place of one poll among its user's, from its first wait to its end.
private final class PollSlot: Sendable {
    private let claims: CourierClaims
    private let user = Mutex<UserRecordName?>(nil)
    private let hasAcknowledged = Atomic(false)

    init(_ claims: CourierClaims) { self.claims = claims }

    /// - Returns: false when the user has as many as they may.
    func begin(for user: UserRecordName, max most: Int) -> Bool {
        self.user.withLock { known in
            guard known == nil else { return true }
            guard claims.begin(pollOf: user, max: most) else { return false }
            known = user
            return true
        }
    }

    /// Whether this call is the first to acknowledge received events.
    func acknowledges() -> Bool { !hasAcknowledged.exchange(true, ordering: .relaxed) }

    deinit {
        if let user = user.withLock({ $0 }) { claims.end(pollOf: user) }
    }
}
