import Accounts
import CloudModel
import Fairness
import HTTP
import Storage

/// Hands notices to devices that wait for them: one for each poll, or each as an event as soon as it is there
/// (web-services.md §4.16, rulings.md 41 and 58).
final class CourierResponder: Sendable {
    private let dependencies: ProtocolResponder.Dependencies
    private let held: HeldAnswers
    private let workers: Workers
    private let rates: RateBudgets
    private let inbox: CourierInbox
    private let streams: CourierStreams
    private let claims = CourierClaims()

    init(
        _ dependencies: ProtocolResponder.Dependencies, held: HeldAnswers, workers: Workers,
        rates: RateBudgets
    ) {
        self.dependencies = dependencies
        self.held = held
        self.workers = workers
        self.rates = rates
        inbox = CourierInbox(dependencies)
        streams = CourierStreams(dependencies, held: held)
    }

    var counts: CourierCounts { claims.counts }

    /// Ends all event streams; none begins from now on.
    func endStreams() { streams.close() }

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
        exchange.note {
            $0.allowedOrigin = exchange.request.headers["origin"]
            $0.operation = "courier"
        }
        guard let address = CourierAddress(exchange.query) else {
            return exchange.fail(ProtocolResponder.noEndpoint)
        }
        exchange.note { $0.address = RequestAddress(address.container, address.environment) }
        guard AllowedMethods.courier.contains(exchange.request.method) else {
            return exchange.refuseMethod(.courier)
        }
        // This comes first, so that no store is opened for a refused request.
        guard
            dependencies.authenticator.courierTokens.isOurs(
                address.token, in: address.container, address.environment)
        else { return fail(exchange, Self.ended) }
        exchange.stopWhenAbandoned()
        let poll = Poll(
            exchange: exchange, address: address, form: CourierForm(exchange.request),
            slot: PollSlot(claims))
        answer(poll, on: exchange.request.loop, after: nil)
    }

    /// - Parameter loop: the event loop whose thread this is; nil on a worker.
    private func answer(_ poll: Poll, on loop: Int?, after wait: AnswerWait?) {
        let address = poll.address
        guard let store = dependencies.stores.known(address.container, address.environment) else {
            return open(poll, after: wait)
        }
        guard loop == nil || store.storage.readsAtOnce else { return goOn(poll, after: wait) }
        do {
            try answer(poll, from: store.storage, on: loop, after: wait)
        } catch {
            fail(poll.exchange, error)
        }
    }

    private func goOn(_ poll: Poll, after wait: AnswerWait?) {
        do {
            try workers.submit(
                .short, for: .address(poll.exchange.request.client), isAdmitted: true,
                stop: poll.exchange.stop
            ) { self.answer(poll, on: nil, after: wait) }
        } catch {
            poll.exchange.fail(error)
        }
    }

    private func open(_ poll: Poll, after wait: AnswerWait?) {
        dependencies.stores.open(poll.address.container, poll.address.environment) { result in
            switch result {
            case .success: self.goOn(poll, after: wait)
            case .failure(CatalogRefusal.containerUnknown): self.fail(poll.exchange, Self.ended)
            case .failure(let error): poll.exchange.fail(error)
            }
        }
    }

    /// The answer for a token that does not exist, or no longer.
    private static let ended = Fault(
        .authenticationFailed, "the token has ended; get another by tokens/create")

    /// Refuses a poll; a poll without a known user counts towards the address that it comes from.
    private func fail(_ exchange: Exchange, _ error: any Error) {
        do {
            if exchange.note({ $0.caller == nil }) { try rates.countPoll(exchange, of: nil) }
            exchange.fail(error)
        } catch {
            exchange.fail(error)
        }
    }

    /// - Parameters:
    ///   - others: notices that other processes have on their way to polls.
    ///   - mark: from before the first look; nil for the first.
    private func answer(
        _ poll: Poll, from storage: any Store, on loop: Int?, after wait: AnswerWait?,
        but others: Set<NoticeNumber> = [], since mark: CommitNotices.Mark? = nil
    ) throws {
        let form = poll.form
        let mark = mark ?? storage.notices.mark
        let found = try inbox.look(
            for: poll.address.key, after: form.seen,
            limit: form.isStream
                ? min(CourierStream.pieceNotices, dependencies.limits.streamEventsMax) : 1,
            in: storage, by: StoreReader(loop: loop)
        ) { form.isStream || !others.contains($0) && claims.take($0, of: storage.notices) }
        guard let found else { throw Self.ended }
        var isUsed = form.isStream
        // If something fails, others must get what this poll has claimed.
        defer {
            if !isUsed { claims.giveBack(found.notices.map(\.number), of: storage.notices) }
        }
        try count(poll, of: found.user)
        if form.isStream { return try stream(found, to: poll, from: storage, since: mark) }
        guard let notice = found.notices.first else {
            try takeSlot(of: poll, found.user)
            return hold(
                poll, found.destination.number, storage.notices, since: mark, after: wait)
        }
        guard let lease = try storage.hold(.courier(notice.number)) else {
            // Once it is there again, the commit that lets it go has moved the mark.
            return try answer(
                poll, from: storage, on: loop, after: wait, but: others.union([notice.number]),
                since: mark)
        }
        guard try isWaiting(notice, storage, on: loop) else {
            return try answer(poll, from: storage, on: loop, after: wait, but: others, since: mark)
        }
        isUsed = true
        poll.exchange.note { $0.work.notices = 1 }
        send(notice, to: poll, from: storage, by: lease)
    }

    /// Counts a poll with its first look.
    private func count(_ poll: Poll, of user: UserRecordName) throws {
        let isFirstLook = poll.exchange.note { notes in
            defer { notes.caller = Caller(kind: .user, userRecordName: user) }
            return notes.caller == nil
        }
        guard isFirstLook else { return }
        try rates.countPoll(
            poll.exchange,
            of: dependencies.catalog.account(named: user, in: poll.address.container))
    }

    /// Whether a claimed notice is still there.
    ///
    /// Since the look began, another poll, of any process, may have delivered it, removed it, and given up its claim.
    private func isWaiting(
        _ notice: StoredNotice, _ storage: any Store, on loop: Int?
    ) throws -> Bool {
        try storage.read(by: StoreReader(loop: loop)) {
            try $0.notices(
                for: notice.destination, after: NoticeNumber(notice.number.value - 1), limit: 1
            ).first?.number == notice.number
        }
    }

    /// - Throws: `Fault` THROTTLED when the user has as many polls waiting as they may.
    private func takeSlot(of poll: Poll, _ user: UserRecordName) throws(Fault) {
        guard !poll.slot.begin(for: user, max: dependencies.limits.heldPollsPerUserMax) else {
            return
        }
        var fault = Fault(.throttled, "too many polls wait for you (http.heldPollsPerUserMax)")
        fault.retryAfterSeconds = 1
        throw fault
    }
}

// Polls.
extension CourierResponder {
    private func hold(
        _ poll: Poll, _ number: DestinationNumber, _ notices: CommitNotices,
        since mark: CommitNotices.Mark, after wait: AnswerWait?
    ) {
        held.hold(
            poll.exchange,
            EarlyAnswer(
                parts: [.destination(number)], outcome: .success([]),
                millisecondsMax: dependencies.limits.courierPollSeconds * 1_000), notices,
            since: mark, for: nil, after: wait, answerHanded: { self.send($1, to: poll) }
        ) { self.resume(poll, after: $0) }
    }

    /// Looks again for a poll that waited.
    private func resume(_ poll: Poll, after wait: AnswerWait) {
        let loop = poll.exchange.request.loop
        let isOnLoop = poll.exchange.resumeOnLoop { self.answer(poll, on: loop, after: wait) }
        if !isOnLoop { goOn(poll, after: wait) }
    }

    /// Answers with a notice that is in no outbox; its giver puts it there if it does not arrive.
    ///
    /// They wait for this loop, never for the client: what its system has not taken at once goes into the outbox
    /// too. If it takes it later, the device gets it twice, with the same identifiers.
    private func send(_ handed: HandedNotice, to poll: Poll) {
        let claims = claims
        poll.exchange.note {
            $0.whenSent = { isSent in
                claims.note(sent: isSent ? 1 : 0, cut: isSent ? 0 : 1)
                handed.whenSent(isSent)
            }
        }
        poll.exchange.succeed(handed.payload)
        // The loop has tried to send it by then.
        poll.exchange.wake { handed.whenSent(false) }
    }

    /// - Parameter lease: keeps other processes from sending it.
    private func send(
        _ notice: StoredNotice, to poll: Poll, from storage: any Store, by lease: StoreLease
    ) {
        let claims = claims
        let whenSent: @Sendable (Bool) -> Void = { isSent in
            claims.note(sent: isSent ? 1 : 0, cut: isSent ? 0 : 1)
            // What was sent must not be sent again. What was not sent goes to the next who asks.
            storage.write(cost: 1, frees: true) { transaction in
                if isSent {
                    try transaction.removeNotices([notice.number])
                } else {
                    try transaction.wakeWaiting(for: notice.destination)
                }
                try lease.end(in: transaction)
            } completion: { _ in
                claims.giveBack([notice.number], of: storage.notices)
            }
        }
        poll.exchange.note { $0.whenSent = whenSent }
        poll.exchange.succeed(notice.payload)
    }
}

// Event streams.
extension CourierResponder {
    /// Begins an event stream with what waits; where too many wait already, it ends there.
    private func stream(
        _ found: CourierInbox.PendingNotices, to poll: Poll, from storage: any Store,
        since mark: CommitNotices.Mark
    ) throws(Fault) {
        acknowledge(poll.form.seen, found.destination.number, in: storage)
        try takeSlot(of: poll, found.user)
        let exchange = poll.exchange
        exchange.note {
            $0.contentType = CourierEvents.contentType
            // Proxies must hand on each event as it comes.
            $0.moreHeaders += [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
        }
        var body = CourierEvents.begin
        CourierEvents.append(found.notices, to: &body)
        let watch = storage.notices.watch(
            [.destination(found.destination.number)], since: mark)
        let stream = CourierStream(
            poll.address, found, seen: poll.form.seen, storage.notices, watch: watch, for: exchange,
            in: poll.slot, at: dependencies.uptime(),
            CourierStream.Context(
                inbox: inbox, streams: streams, claims: claims, stores: dependencies.stores,
                workers: workers, limits: dependencies.limits))
        guard streams.add(stream) else {
            watch.end()
            exchange.succeed(body)
            return
        }
        let count = found.notices.count
        exchange.whenGone { stream.leave() }
        exchange.note { $0.whenSent = { stream.hasSent($0, count: count) } }
        exchange.succeed(body, open: stream.body)
    }

    /// Removes the events that the client says it has received.
    private func acknowledge(
        _ seen: NoticeNumber, _ destination: DestinationNumber, in storage: any Store
    ) {
        guard seen.value > 0 else { return }
        // NB: an event that stays is sent again, with the same identifier.
        storage.write(cost: 1, frees: true) {
            try $0.removeNotices(for: destination, through: seen)
        } completion: { _ in
        }
    }
}
