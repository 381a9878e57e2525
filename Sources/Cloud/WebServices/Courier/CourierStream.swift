import CloudModel
import Fairness
import HTTP
import Storage
import Synchronization

/// One event stream: a client that stays, and is told of each notice as it comes.
///
/// A notice stays in the outbox until the client acknowledges it, which it does when it comes back. So after
/// `ServiceLimits.streamEventsMax` events the stream ends, and the client comes back at once. Nothing is read
/// before the client's system has taken what was sent before: a client that does not read costs one piece.
final class CourierStream: Sendable {
    /// Notices sent at a time, of 4 KiB each at most.
    static let pieceNotices = 16

    /// What a stream needs of the rest of the courier.
    struct Context: Sendable {
        let inbox: CourierInbox
        let streams: CourierStreams
        let claims: CourierClaims
        let stores: any StoreAccess
        let workers: Workers
        let limits: ServiceLimits
    }

    private enum Stage {
        /// A look or a piece is under way.
        case busy
        /// For the watch.
        case waiting
        case over
    }

    private struct State {
        var stage = Stage.busy
        var watch: CommitWatch
        /// Whether somebody waits for the watch.
        var isWatched = false
        /// Whether there may be news since the last look.
        var mustLook = false
        var mustEnd = false
        /// The last notice that was sent, or is being sent.
        var seen: NoticeNumber
        /// How many were sent.
        var count = 0
        /// When the client was last told that all is well, by the monotonic clock.
        var assuredAt: UInt64
        var sessionEnd: Milliseconds = 0
        var checkedVersion: Int?
    }

    private let context: Context
    private let address: CourierAddress
    private let destination: StoredDestination
    private let notices: CommitNotices
    private let principal: Principal
    private let stop: StopSignal
    /// Its place among its user's, which it gives back when it is gone.
    private let slot: PollSlot
    private let beganAt: UInt64
    private let state: Mutex<State>
    let body = OpenBody()

    /// - Parameters:
    ///   - found: what the answer begins with.
    ///   - seen: the last notice that the client has acknowledged.
    ///   - watch: of the destination, from before that was found.
    init(
        _ address: CourierAddress, _ found: CourierInbox.PendingNotices, seen: NoticeNumber,
        _ notices: CommitNotices, watch: CommitWatch, for exchange: Exchange, in slot: PollSlot,
        at uptime: UInt64, _ context: Context
    ) {
        self.address = address
        self.context = context
        self.slot = slot
        destination = found.destination
        self.notices = notices
        principal = .address(exchange.request.client)
        stop = exchange.stop
        beganAt = uptime
        var first = State(
            watch: watch, seen: found.notices.last?.number ?? seen, assuredAt: uptime)
        first.count = found.notices.count
        first.mustLook = found.notices.count == Self.pieceNotices
        state = Mutex(first)
    }

    /// The system has taken a piece for the client, or the client has gone.
    ///
    /// - Parameter count: the notices in it.
    func hasSent(_ isSent: Bool, count: Int) {
        context.claims.note(sent: isSent ? count : 0, cut: isSent ? 0 : count)
        guard isSent else { return leave() }
        goOn()
    }

    private enum Next { case look, wait(CommitWatch), end(Bool), nothing }

    /// Does what comes after a look that found nothing, or after a piece.
    private func goOn() {
        let next = state.withLock { state -> Next in
            guard case .busy = state.stage else { return .nothing }
            let isFull = state.count >= context.limits.streamEventsMax
            if state.mustEnd || isFull { return .end(isFull) }
            if state.mustLook { return .look }
            state.stage = .waiting
            defer { state.isWatched = true }
            return state.isWatched ? .nothing : .wait(state.watch)
        }
        switch next {
        case .nothing: break
        case .look: lookSoon()
        case .wait(let watch): watch.whenMoved { [weak self] _ in self?.moved() }
        case .end(let isFull): sendLast(isFull ? CourierEvents.comeBack : [])
        }
    }

    private func moved() {
        let begins = state.withLock { state -> Bool in
            state.mustLook = true
            guard case .waiting = state.stage else { return false }
            state.stage = .busy
            return true
        }
        if begins { lookSoon() }
    }

    private func lookSoon() {
        // NB: what was admitted before is not refused.
        try? context.workers.submit(
            .short, for: principal, isAdmitted: true, stop: stop, drop: { self.leave() }
        ) { self.look() }
    }

    /// Looks for what is new; on a worker, while the stream is busy.
    private func look() {
        guard let store = context.stores.known(address.container, address.environment) else {
            return context.stores.open(address.container, address.environment) { result in
                switch result {
                case .success: self.lookSoon()
                case .failure: self.sendLast()
                }
            }
        }
        let watch = notices.watch([.destination(destination.number)])
        let (previous, seen, most) = state.withLock { state in
            defer { (state.watch, state.isWatched, state.mustLook) = (watch, false, false) }
            return (
                state.watch, state.seen,
                min(Self.pieceNotices, context.limits.streamEventsMax - state.count)
            )
        }
        previous.end()
        do {
            let found = try context.inbox.look(
                for: address.key, after: seen, limit: most, in: store.storage
            ) { _ in true }
            guard let found else { return sendLast() }
            guard let last = found.notices.last else { return goOn() }
            state.withLock { state in
                state.seen = last.number
                state.count += found.notices.count
                state.mustLook = found.notices.count == most
            }
            var piece: [UInt8] = []
            CourierEvents.append(found.notices, to: &piece)
            send(piece, count: found.notices.count)
        } catch {
            // NB: the client learns what is wrong when it comes back.
            sendLast()
        }
    }

    private func send(_ piece: [UInt8], count: Int) {
        body.send(piece) { isSent in self.hasSent(isSent, count: count) }
    }

    private func sendLast(_ piece: [UInt8] = []) {
        body.send(piece, isLast: true) { _ in self.leave() }
    }

    /// Ends the stream, once what is under way has been sent.
    func end() {
        let isIdle = state.withLock { state -> Bool in
            state.mustEnd = true
            guard case .waiting = state.stage else { return false }
            state.stage = .busy
            return true
        }
        if isIdle { sendLast() }
    }

    /// Ends what has lasted long enough or has lost its session; tells the others that all is well.
    func look(at tick: inout CourierStreams.Tick) {
        let age = tick.uptime &- beganAt
        if age >= UInt64(context.limits.streamSecondsMax) * 1_000_000_000
            || !isSessionAlive(&tick)
        {
            return end()
        }
        let quiet = UInt64(context.limits.streamQuietSeconds) * 1_000_000_000
        let uptime = tick.uptime
        let isQuiet = state.withLock { state -> Bool in
            guard case .waiting = state.stage, uptime &- state.assuredAt >= quiet else {
                return false
            }
            state.stage = .busy
            state.assuredAt = uptime
            return true
        }
        if isQuiet { send(CourierEvents.comment, count: 0) }
    }

    private func isSessionAlive(_ tick: inout CourierStreams.Tick) -> Bool {
        let (version, now) = (tick.catalogVersion, tick.now)
        let isKnown = state.withLock { state in
            state.checkedVersion == version && now < state.sessionEnd
        }
        guard !isKnown, tick.checksLeft > 0 else { return true }
        tick.checksLeft -= 1
        // NB: nothing is told without a look at the session; this look only ends the stream sooner.
        guard let found = try? context.inbox.sessionEnd(of: destination) else { return false }
        state.withLock { state in
            state.checkedVersion = version
            state.sessionEnd = found
        }
        return true
    }

    /// Forgets all: the client has gone, or has had the last piece.
    func leave() {
        let watch = state.withLock { state -> CommitWatch? in
            if case .over = state.stage { return nil }
            state.stage = .over
            return state.watch
        }
        watch?.end()
        context.streams.remove(self)
    }
}
