import CloudModel
import Dispatch
import Storage
import Synchronization

/// Answers that show nothing yet: each waits until a commit changes its places, or until it has waited
/// enough.
///
/// A waiting answer holds no thread and no store. When its store is closed, the next writer opens it
/// again, and that commit ends the wait.
final class HeldAnswers: Sendable {
    private struct Held: Sendable {
        let exchange: Exchange
        let early: EarlyAnswer
        let watch: CommitWatch
        let deadline: UInt64
        /// How often it has waited, this time included, and since when.
        let count: Int
        let since: UInt64
        let resume: Resume
        /// Nil when the caller's credentials are not known here.
        let caller: Principal?
    }

    private struct State {
        var held: [UInt64: Held] = [:]
        /// The answers whose time ends at each tick of the clock.
        var deadlines: [UInt64: Set<UInt64>] = [:]
        /// How many answers of each known caller wait.
        var callers: [Principal: Int] = [:]
        var lastNumber: UInt64 = 0
        /// Places that others than held answers have.
        var slotsTaken = 0
        /// The next tick at which somebody looks at the deadlines.
        var nextLook: UInt64?
        var isClosed = false
    }

    /// Makes an answer again; called on any thread, and must not block.
    typealias Resume = @Sendable (AnswerWait) -> Void
    /// Answers with what it is handed, instead of looking for it; called on any thread, and must not block.
    typealias Take = @Sendable (Exchange, HandedNotice) -> Void

    /// Deadlines are kept by the hundredth of a second.
    private static let tickNanoseconds: UInt64 = 10_000_000
    /// The shortest time between two looks for one answer; it doubles up to the longest.
    ///
    /// Commits may come faster than it makes sense to look.
    private static let pauseMillisecondsMin = 2
    private static let pauseMillisecondsMax = 50

    private let countMax: Int
    private let perCallerMax: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "web.held")

    /// - Parameters:
    ///   - countMax: how many may wait at a time.
    ///   - perCallerMax: how many of one caller.
    init(countMax: Int, perCallerMax: Int) {
        self.countMax = countMax
        self.perCallerMax = perCallerMax
    }

    /// How many wait now.
    var count: Int { state.withLock { $0.held.count + $0.slotsTaken } }

    /// Takes a slot for an answer that has begun and waits for more to say; false where there is no room.
    func takeSlot() -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.held.count + state.slotsTaken < countMax else {
                return false
            }
            state.slotsTaken += 1
            return true
        }
    }

    func returnSlot() {
        state.withLock {
            $0.slotsTaken -= 1
            assert($0.slotsTaken >= 0, "a place that is given back was taken")
        }
    }

    /// Holds an answer until one of its places changes; sends it when it has waited enough or there is no
    /// room.
    ///
    /// - Parameters:
    ///   - notices: those of the store that the answer looked at.
    ///   - mark: from before that look.
    ///   - caller: who asks; nil when their credentials are not known here.
    ///   - past: how it has waited before; nil where it has not.
    ///   - answerHanded: for one who waits for a notice of the caller's; nil for all others.
    func hold(
        _ exchange: Exchange, _ early: EarlyAnswer, _ notices: CommitNotices,
        since mark: CommitNotices.Mark, for caller: Principal?, after past: AnswerWait?,
        answerHanded: Take? = nil, resume: @escaping Resume
    ) {
        let now = DispatchTime.now().uptimeNanoseconds
        let (count, since) = (past?.count ?? 0, past?.since ?? now)
        let deadline = since &+ UInt64(max(0, early.millisecondsMax)) &* 1_000_000
        guard now < deadline else { return exchange.finish(early.outcome.mapError { $0 }) }
        // One that begins again now has its watch from before its look, and misses nothing of its own.
        let watch = past?.takeWatch(of: early.parts) ?? notices.watch(early.parts, since: mark)
        let held = Held(
            exchange: exchange, early: early, watch: watch, deadline: deadline, count: count + 1,
            since: since, resume: resume,
            caller: caller.flatMap { $0.isKnown ? $0 : nil })
        guard let number = keep(held) else {
            watch.end()
            return exchange.finish(early.outcome.mapError { $0 })
        }
        let earliest = now &+ Self.pauseNanoseconds(after: count)
        exchange.whenGone { [weak self] in _ = self?.take(number) }
        var hand: CommitWatch.Take?
        if let answerHanded {
            hand = { [weak self] handed in
                self?.hand(handed, to: number, notices, answerHanded) ?? false
            }
        }
        watch.whenMoved(
            { [weak self] _ in self?.moved(number, notices, notBefore: earliest) }, orTake: hand)
        if exchange.stop.isAbandoned { _ = take(number) }
    }

    /// Sends all waiting answers as they are, and holds none from now on.
    func close() {
        let numbers = state.withLock { state in
            state.isClosed = true
            return Array(state.held.keys)
        }
        for number in numbers { send(number) }
        assert(
            state.withLock { $0.held.isEmpty && $0.callers.isEmpty && $0.deadlines.isEmpty },
            "after the end nothing waits and nothing counts: else an exchange would never be answered"
        )
    }

    private static func pauseNanoseconds(after count: Int) -> UInt64 {
        guard count > 0 else { return 0 }
        return UInt64(min(pauseMillisecondsMax, pauseMillisecondsMin << min(count - 1, 8)))
            * 1_000_000
    }

    /// - Returns: nil where there is no room.
    private func keep(_ held: Held) -> UInt64? {
        let tick = held.deadline / Self.tickNanoseconds + 1
        let (number, looks) = state.withLock { state -> (UInt64?, Bool) in
            guard !state.isClosed, state.held.count + state.slotsTaken < countMax else {
                return (nil, false)
            }
            if let caller = held.caller {
                guard state.callers[caller, default: 0] < perCallerMax else { return (nil, false) }
                state.callers[caller, default: 0] += 1
            }
            state.lastNumber += 1
            state.held[state.lastNumber] = held
            state.deadlines[tick, default: []].insert(state.lastNumber)
            let looks = state.nextLook.map { tick < $0 } ?? true
            if looks { state.nextLook = tick }
            return (state.lastNumber, looks)
        }
        if looks { look(at: tick) }
        return number
    }

    /// Takes an answer, so that nothing else ends its wait.
    private func take(_ number: UInt64) -> Held? {
        let held = state.withLock { state -> Held? in
            guard let held = state.held.removeValue(forKey: number) else { return nil }
            let tick = held.deadline / Self.tickNanoseconds + 1
            state.deadlines[tick]?.remove(number)
            if state.deadlines[tick]?.isEmpty == true { state.deadlines[tick] = nil }
            if let caller = held.caller {
                let left = state.callers[caller, default: 0] - 1
                assert(left >= 0, "an answer that waits counts towards its caller")
                state.callers[caller] = left > 0 ? left : nil
            }
            return held
        }
        held?.watch.end()
        return held
    }

    private func moved(_ number: UInt64, _ notices: CommitNotices, notBefore earliest: UInt64) {
        guard DispatchTime.now().uptimeNanoseconds < earliest else {
            return goOn(number, notices)
        }
        queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: earliest)) {
            self.goOn(number, notices)
        }
    }

    /// - Returns: false when the wait is over, or is another user's by now: then they look.
    private func hand(
        _ handed: HandedNotice, to number: UInt64, _ notices: CommitNotices, _ answer: Take
    ) -> Bool {
        let isTheirs = state.withLock {
            $0.held[number]?.exchange.note { $0.caller?.userRecordName } == handed.user
        }
        guard isTheirs else {
            goOn(number, notices)
            return false
        }
        guard let held = take(number) else { return false }
        answer(held.exchange, handed)
        return true
    }

    private func goOn(_ number: UInt64, _ notices: CommitNotices) {
        guard let held = take(number) else { return }
        held.resume(
            AnswerWait(
                count: held.count, since: held.since, notices.watch(held.early.parts)))
    }

    private func send(_ number: UInt64) {
        guard let held = take(number) else { return }
        held.exchange.finish(held.early.outcome.mapError { $0 })
    }

    private func look(at tick: UInt64) {
        let moment = DispatchTime(uptimeNanoseconds: tick &* Self.tickNanoseconds)
        queue.asyncAfter(deadline: moment) { [weak self] in self?.lookAtDeadlines() }
    }

    private func lookAtDeadlines() {
        let tick = DispatchTime.now().uptimeNanoseconds / Self.tickNanoseconds
        let (over, next) = state.withLock { state -> ([UInt64], UInt64?) in
            let over = state.deadlines.filter { $0.key <= tick }.flatMap(\.value)
            state.nextLook = state.deadlines.keys.filter { $0 > tick }.min()
            return (over, state.nextLook)
        }
        if let next { look(at: next) }
        for number in over { send(number) }
    }
}
